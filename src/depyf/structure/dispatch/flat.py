"""From a graph to the statements that dispatch its blocks."""

from __future__ import annotations

import ast

from depyf.errors import DecompilationError
from depyf.lift.tac import Graph
from depyf.structure.class_ends import end_class
from depyf.structure.collapse import collapse
from depyf.structure.dispatch.markers import Markers
from depyf.structure.dispatch.phis import drop_dead_phis
from depyf.structure.dispatch.plan import Plan
from depyf.structure.dispatch.scopes import Scope, Scopes
from depyf.structure.dispatch.withs import keep_withs
from depyf.structure.dispatch.write import Finish, Writer
from depyf.structure.patterns.cases import join_cases
from depyf.structure.regions.async_for import restore_async_for
from depyf.structure.regions.jumps import protect_jumps
from depyf.structure.regions.table import Regions
from depyf.trace import step

DEPTH = 40
"""Scopes inside each other; Python itself takes fewer."""


def dispatch(graph: Graph, finish: Finish) -> list[ast.stmt]:
    """Return the statements of a graph; nothing is demanded of its control flow.

    finish: makes statements of a test for patterns.

    Raises DecompilationError for operations that no statement shows, and where statements would nest too deep.
    """
    end_class(graph)
    restore_async_for(graph)
    regions = Regions(graph)
    protect_jumps(regions)
    withs = keep_withs(graph, regions)
    step("{} blocks become states of loops that dispatch", len(graph.live()))
    scopes = Scopes(graph, Markers(graph), set(withs))
    _check_depth(graph, scopes)
    drop_dead_phis(graph)
    join_cases(graph, _groups(graph, scopes))
    uses = collapse(graph, _groups(graph, scopes), False)
    return Writer(graph, Plan(graph, scopes, withs, uses), uses, finish).run()


def _check_depth(graph: Graph, scopes: Scopes) -> None:
    for scope in scopes.all():
        depth, place = 0, scope.parent
        while place is not None and depth <= DEPTH:
            depth, place = depth + 1, place.parent
        if depth > DEPTH:
            raise DecompilationError("exceptions are handled in more levels than Python has", code=str(graph.code))


def _groups(graph: Graph, scopes: Scopes) -> dict[int, int]:
    """Return by block what may be joined with it: its scope; a test for an exception stays on its own."""
    ids: dict[Scope, int] = {}
    groups = {}
    for block in graph.live():
        tests = any(inst.op.startswith("CHECK_E") for inst in block.insts)
        is_alone = tests or block.index in scopes.stray
        scope = scopes.of.get(block.index)
        groups[block.index] = -1 - block.index if is_alone or scope is None else ids.setdefault(scope, len(ids))
    return groups
