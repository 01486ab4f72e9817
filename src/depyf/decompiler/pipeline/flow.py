"""The input and output of the passes that only code with control flow needs.

`table.py` imports this module when the first such code is decompiled: most of what Dynamo writes has none.
"""

from __future__ import annotations

from collections.abc import Callable

from depyf.decompiler.passes.flow.asserts import restore_asserts
from depyf.decompiler.passes.flow.complete import check_complete
from depyf.decompiler.passes.flow.heads import restore_heads
from depyf.decompiler.passes.flow.matches import restore_matches
from depyf.decompiler.passes.flow.opposites import write_opposites
from depyf.decompiler.passes.flow.tidy import tidy
from depyf.decompiler.passes.flow.tries import restore_tries
from depyf.decompiler.pipeline.conditions import keeps_lists, scopes_dispatch
from depyf.decompiler.pipeline.groups import KEPT, OURS, PATTERNS
from depyf.decompiler.pipeline.work import Work
from depyf.decompiler.structure.budget import nests_too_deep
from depyf.decompiler.structure.build import build
from depyf.decompiler.structure.choices import Choices
from depyf.decompiler.structure.collapse import collapse
from depyf.decompiler.structure.copies import join_copies
from depyf.decompiler.structure.dispatch.groups import check_groups
from depyf.decompiler.structure.dropped import remove_dropped
from depyf.decompiler.structure.dropped_copies import join_dropped_copies
from depyf.decompiler.structure.generator_calls import restore_generator_calls
from depyf.decompiler.structure.lead_back import lead_back
from depyf.decompiler.structure.loop_tests import part_loop_tests
from depyf.decompiler.structure.nests import scopes
from depyf.decompiler.structure.patterns.cases import join_cases
from depyf.decompiler.structure.patterns.hoist import hoist_behind_cases
from depyf.decompiler.structure.regions.async_ends import expand_async_ends
from depyf.decompiler.structure.regions.async_for import restore_async_for
from depyf.decompiler.structure.regions.except_star import restore_except_star
from depyf.decompiler.structure.regions.recognise import recognise
from depyf.decompiler.structure.thread import thread
from depyf.decompiler.structure.unstructured import Unstructured
from depyf.decompiler.structure.value_copies import join_value_copies


def _generator_calls(work: Work) -> None:
    restore_generator_calls(work.graph)


def _dropped(work: Work) -> None:
    join_dropped_copies(work.graph)
    join_value_copies(work.graph)
    remove_dropped(work.graph)


def _async_for(work: Work) -> None:
    restore_async_for(work.graph)
    expand_async_ends(work.graph, keep_handlers=False)


def _except_star(work: Work) -> None:
    restore_except_star(work.graph)
    check_groups(work.graph)


def _regions(work: Work) -> None:
    work.recognised = recognise(work.graph)


def _thread(work: Work) -> None:
    thread(work.graph, work.markers, work.recognised.regions)
    lead_back(work.graph)


def _copies(work: Work) -> None:
    join_copies(work.graph, work.nest)


def _scopes(work: Work) -> None:
    work.scope = scopes(work.graph, work.nest, work.recognised.finallys)
    part_loop_tests(work.graph, work.nest, work.scope)


def _cases(work: Work) -> None:
    join_cases(work.graph, work.scope)


def _collapse(work: Work) -> None:
    work.uses = collapse(work.graph, work.scope, work.code.name == "<lambda>")


def _build(work: Work) -> None:
    assert isinstance(work.choices, Choices)
    work.items = build(work.graph, work.recognised, work.nest, work.uses, work.choices)


def _hoist(work: Work) -> None:
    hoist_behind_cases(work.items, work.code)


def _matches(work: Work) -> None:
    if not KEPT.isdisjoint(work.ops) or any(work.graph.waiting.values()):
        work.stmts = restore_matches(work.stmts)


def _asserts(work: Work) -> None:
    work.stmts = restore_asserts(work.stmts)


def _tries(work: Work) -> None:
    work.stmts = restore_tries(work.stmts)


def _heads(work: Work) -> None:
    work.stmts = restore_heads(work.stmts, keeps_lists=keeps_lists(work))


def _complete(work: Work) -> None:
    if not OURS.isdisjoint(work.ops):
        check_complete(work.stmts, has_patterns=not PATTERNS.isdisjoint(work.ops))
    if nests_too_deep(work.stmts):
        raise Unstructured("statements are nested deeper than Python takes them")


def _dispatch(work: Work) -> None:
    from depyf.decompiler.structure.dispatch.flat import dispatch_levels, dispatch_scopes

    write = dispatch_scopes if scopes_dispatch(work) else dispatch_levels
    work.stmts = restore_heads(write(work.graph, restore_matches), keeps_lists=keeps_lists(work))
    if "LOAD_COMMON" in work.ops:
        work.stmts = restore_asserts(work.stmts)
    _complete(work)
    work.names.hints.update(work.graph.hints)


def _tidy(work: Work) -> None:
    tidy(work.stmts, in_order=work.graph.source_order)


def _opposites(work: Work) -> None:
    write_opposites(work.stmts, negates=work.graph.negates)


RUN: dict[str, Callable[[Work], None]] = {
    "generator-calls": _generator_calls,
    "dropped": _dropped,
    "async-for": _async_for,
    "except-star": _except_star,
    "regions": _regions,
    "thread": _thread,
    "copies": _copies,
    "scopes": _scopes,
    "cases": _cases,
    "collapse": _collapse,
    "build": _build,
    "hoist": _hoist,
    "matches": _matches,
    "asserts": _asserts,
    "tries": _tries,
    "heads": _heads,
    "complete": _complete,
    "dispatch": _dispatch,
    "tidy": _tidy,
    "opposites": _opposites,
}
"""The functions of the passes, by name."""
