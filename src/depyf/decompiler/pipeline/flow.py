"""The input and output of the passes on graphs that only code with control flow needs.

`table.py` imports this module when the first such code is decompiled: most of what Dynamo writes has none.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from depyf.decompiler.graph.tac import Graph
from depyf.decompiler.passes.conditions import COLLAPSE, levels_dispatch, scopes_dispatch, structures
from depyf.decompiler.passes.flow.asserts import restore_asserts
from depyf.decompiler.passes.flow.complete import check_complete_of
from depyf.decompiler.passes.flow.heads import keeps_lists, restore_heads
from depyf.decompiler.passes.flow.matches import restore_matches
from depyf.decompiler.passes.groups import BUILTINS, CAUGHT, COPIED, FLOW, KEPT, PATTERNS, TESTS
from depyf.decompiler.passes.registry import Stage, registers
from depyf.decompiler.pipeline.work import SCOPES, Work
from depyf.decompiler.structure.copies import join_copies
from depyf.decompiler.structure.dispatch.groups import check_groups
from depyf.decompiler.structure.dropped import kept_tests, remove_dropped
from depyf.decompiler.structure.dropped_copies import join_dropped_copies
from depyf.decompiler.structure.generator_calls import restore_generator_calls
from depyf.decompiler.structure.lead_back import lead_back
from depyf.decompiler.structure.loop_tests import part_loop_tests
from depyf.decompiler.structure.nests import cut, find_markers, nests, scopes
from depyf.decompiler.structure.patterns.cases import join_cases
from depyf.decompiler.structure.patterns.hoist import hoist_behind_cases
from depyf.decompiler.structure.regions.async_ends import expand_async_ends
from depyf.decompiler.structure.regions.async_for import restore_async_for
from depyf.decompiler.structure.regions.except_star import restore_except_star
from depyf.decompiler.structure.regions.recognise import recognise
from depyf.decompiler.structure.thread import thread
from depyf.decompiler.structure.value_copies import join_value_copies


@registers(
    "generator-calls",
    Stage.LIFT,
    "restore inlined `any()`",
    takes=("graph",),
    needs=BUILTINS,
    after={"lift": "it makes the graph"},
)
def restore_any(graph: Graph) -> None:
    """Restore the calls whose generators the compiler has inlined."""
    restore_generator_calls(graph)


@registers(
    "dropped",
    Stage.LIFT,
    "remove dropped values of tests from the stack",
    takes=("graph",),
    optional=True,
    needs=COPIED,
    after={"lift": "it makes the graph"},
)
def drop_values(graph: Graph) -> None:
    """Remove the values of tests that are dropped."""
    kept = kept_tests(graph)
    if not kept:
        return
    join_dropped_copies(graph)
    join_value_copies(graph, kept)
    remove_dropped(graph)


@registers(
    "async-for",
    Stage.STRUCTURE,
    "turn the handler that ends `async for` into an exit of a block",
    takes=("graph",),
    applies=structures,
    needs=frozenset({"END_ASYNC_FOR"}),
    before={"regions": "the handler that ends the loop is no `try`"},
)
def end_async_for(graph: Graph) -> None:
    """Turn the handlers that end loops into exits."""
    restore_async_for(graph)
    expand_async_ends(graph, keep_handlers=False)


@registers(
    "except-star",
    Stage.STRUCTURE,
    "remove the bookkeeping of `except*`",
    takes=("graph",),
    applies=structures,
    needs=CAUGHT,
    before={"regions": "the regions inside `except*` are bookkeeping, not `try` statements"},
)
def end_except_star(graph: Graph) -> None:
    """Remove the bookkeeping of exception groups."""
    restore_except_star(graph)
    check_groups(graph)


@registers(
    "regions",
    Stage.STRUCTURE,
    "recognise protected regions, remove their bookkeeping",
    applies=structures,
    needs=FLOW,
    before={"cut": "bookkeeping also pops markers"},
)
def recognise_regions(work: Work) -> None:
    """Recognise protected regions."""
    work.recognised = recognise(work.graph)


@registers(
    "cut",
    Stage.STRUCTURE,
    "cut blocks at the exits of loops and handlers",
    applies=structures,
    needs=FLOW,
    before={"thread": "a block that leaves a loop must be separate before edges skip it"},
)
def cut_blocks(work: Work) -> None:
    """Cut blocks at exits, and find how loops nest."""
    work.markers = find_markers(work.graph)
    cut(work.graph, work.markers)
    work.nest = nests(work.graph, work.markers)


@registers(
    "thread",
    Stage.STRUCTURE,
    "redirect edges past empty blocks",
    optional=True,
    applies=structures,
    needs=FLOW,
    before={"copies": "copies are compared by the final targets of their edges"},
)
def thread_edges(work: Work) -> None:
    """Redirect edges past empty blocks."""
    thread(work.graph, work.markers, work.recognised.regions)
    lead_back(work.graph)


@registers(
    "copies",
    Stage.STRUCTURE,
    "join copies of expressions",
    optional=True,
    applies=structures,
    needs=TESTS,
    before={
        "scopes": "it numbers the blocks that remain",
        COLLAPSE: "an arm with a value on the stack looks like a statement",
    },
)
def join_expressions(work: Work) -> None:
    """Join copies of expressions."""
    join_copies(work.graph, work.nest)


@registers(
    "scopes",
    Stage.STRUCTURE,
    "number blocks by their nesting",
    applies=structures,
    needs=FLOW,
    after={"cut": "it finds how loops nest"},
    before={"cases": "tests are joined within one scope"},
)
def number_scopes(work: Work) -> None:
    """Give each block the number of its scope."""
    work.scope = scopes(work.graph, work.nest, work.recognised.finallys)
    part_loop_tests(work.graph, work.nest, work.scope)


@registers(
    "cases",
    Stage.STRUCTURE,
    "join the tests of a pattern",
    applies=structures,
    needs=PATTERNS | {"COMPARE"},
    before={COLLAPSE: "the tests of a pattern would become operands of `and`"},
)
def join_patterns(work: Work) -> None:
    """Join the tests of a pattern."""
    if not FLOW.isdisjoint(work.ops):
        join_cases(work.graph, work.scope)


@registers(
    "hoist",
    Stage.ITEMS,
    "move code shared by cases after them",
    optional=True,
    applies=structures,
    needs=KEPT,
    after={"build": "cases must be nested tests"},
    before={"labels": "it needs the labels"},
)
def hoist(work: Work) -> None:
    """Move code that cases share after them."""
    if not FLOW.isdisjoint(work.ops):
        hoist_behind_cases(work.items, work.code)


@registers(
    SCOPES,
    Stage.STATEMENTS,
    "dispatch on the number of a block, with a `try` for each handler",
    optional=True,
    applies=scopes_dispatch,
)
def dispatch_by_scopes(work: Work) -> None:
    """Write a loop that dispatches, with a `try` for each handler."""
    from depyf.decompiler.structure.dispatch.flat import dispatch_scopes

    _dispatch(work, dispatch_scopes)


@registers(
    "dispatch-levels",
    Stage.STATEMENTS,
    "dispatch on the number of a block, with one `try` for all handlers",
    applies=levels_dispatch,
)
def dispatch_by_levels(work: Work) -> None:
    """Write a loop that dispatches, with one `try` for all handlers."""
    from depyf.decompiler.structure.dispatch.flat import dispatch_levels

    _dispatch(work, dispatch_levels)


def _dispatch(work: Work, write: Callable[..., list[ast.stmt]]) -> None:
    stmts = write(work.graph, restore_matches)
    work.stmts = restore_heads(stmts, keeps_lists=keeps_lists(work.graph, work.listing))
    if "LOAD_COMMON" in work.ops:
        work.stmts = restore_asserts(work.stmts)
    check_complete_of(work.stmts, work.ops)
    work.names.hints.update(work.graph.hints)
