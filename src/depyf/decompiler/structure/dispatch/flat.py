"""Turn a graph into the statements that dispatch its blocks."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Mapping

from depyf.decompiler.graph.tac import Graph
from depyf.decompiler.steps import step
from depyf.decompiler.structure.class_ends import end_class
from depyf.decompiler.structure.collapse import collapse
from depyf.decompiler.structure.dispatch.alike import join_alike
from depyf.decompiler.structure.dispatch.arms import Finish
from depyf.decompiler.structure.dispatch.groups import check_groups, expand_groups
from depyf.decompiler.structure.dispatch.levels import Levels
from depyf.decompiler.structure.dispatch.markers import Markers
from depyf.decompiler.structure.dispatch.phis import drop_dead_phis
from depyf.decompiler.structure.dispatch.plan import Plan
from depyf.decompiler.structure.dispatch.scopes import Scope, Scopes
from depyf.decompiler.structure.dispatch.withs import keep_withs
from depyf.decompiler.structure.dispatch.write import Writer
from depyf.decompiler.structure.dispatch.write_levels import LevelWriter
from depyf.decompiler.structure.patterns.cases import join_cases
from depyf.decompiler.structure.regions.async_ends import expand_async_ends
from depyf.decompiler.structure.regions.async_for import restore_async_for
from depyf.decompiler.structure.regions.jumps import protect_jumps
from depyf.decompiler.structure.regions.table import Regions
from depyf.decompiler.structure.unstructured import Unstructured

DEPTH = 40
"""The deepest nesting of scopes; Python itself allows fewer."""


def dispatch_scopes(graph: Graph, finish: Finish) -> list[ast.stmt]:
    """Return the statements of a graph, with a `try` for each handler.

    Args:
        finish: makes statements from a test for patterns.

    Raises:
        Unstructured: regions do not nest.
        DecompilationError: an operation has no statement.
    """
    check_groups(graph)
    end_class(graph)
    restore_async_for(graph)
    expand_async_ends(graph, keep_handlers=True)
    regions = Regions(graph)
    protect_jumps(regions)
    join_alike(graph)
    withs = keep_withs(graph, regions)
    step("{} blocks become states of loops that dispatch", len(graph.live()))
    scopes = Scopes(graph, Markers(graph), set(withs))
    _check_depth(scopes)
    drop_dead_phis(graph)
    ids: dict[Scope, int] = {}
    groups = _groups(graph, {index: ids.setdefault(scope, len(ids)) for index, scope in scopes.of.items()})
    join_cases(graph, groups)
    uses = collapse(graph, groups, False)
    return Writer(graph, Plan(graph, scopes, withs, uses), uses, finish).run()


def dispatch_levels(graph: Graph, finish: Finish) -> list[ast.stmt]:
    """Return the statements of any graph, in the two levels of one `try`.

    Args:
        finish: makes statements from a test for patterns.

    Raises:
        DecompilationError: an operation has no statement.
    """
    end_class(graph)
    restore_async_for(graph)
    expand_async_ends(graph, keep_handlers=False)
    Regions(graph)
    join_alike(graph)
    gathers = expand_groups(graph)
    step("{} blocks become states of one loop that dispatches", len(graph.live()))
    levels = Levels(graph, gathers=gathers)
    drop_dead_phis(graph, levels.restored)
    groups = _groups(graph, levels.groups())
    join_cases(graph, groups)
    uses = collapse(graph, groups, False)
    return LevelWriter(graph, levels, uses, finish).run()


def _check_depth(scopes: Scopes) -> None:
    for scope in scopes.all():
        depth, place = 0, scope.parent
        while place is not None and depth <= DEPTH:
            depth, place = depth + 1, place.parent
        if depth > DEPTH:
            raise Unstructured("exceptions are handled in more levels than Python has")


def _groups(graph: Graph, kinds: Mapping[int, Hashable]) -> dict[int, int]:
    """Return for each block a group: blocks of one kind may be joined, and a test for an exception stays separate."""
    ids: dict[Hashable, int] = {}
    groups = {}
    for block in graph.live():
        is_alone = block.index not in kinds or any(inst.op.startswith("CHECK_E") for inst in block.insts)
        groups[block.index] = -1 - block.index if is_alone else ids.setdefault(kinds[block.index], len(ids))
    return groups
