"""The whole decompiler on one page: from a `Code` to statements.

PASSES lists the passes in the order in which they run; `order.ORDER` gives the reasons for that order. `check_order`
compares the two when this module is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from depyf.decompiler.graph.tac import Graph
from depyf.decompiler.lift.simplify.containers import evaluate_containers
from depyf.decompiler.lift.simplify.dead import remove_dead
from depyf.decompiler.lift.simplify.promote import promote_variables
from depyf.decompiler.lift.simplify.reload import reload_where_used
from depyf.decompiler.lift.simplify.restored import drop_restored
from depyf.decompiler.lift.simplify.results import unpack_results
from depyf.decompiler.lift.simulate import lift
from depyf.decompiler.passes.annotations import restore_annotations, set_annotations_up
from depyf.decompiler.passes.asserts import restore_asserts
from depyf.decompiler.passes.at_once import use_at_once
from depyf.decompiler.passes.class_temps import unbind_class_temps
from depyf.decompiler.passes.complete import check_complete
from depyf.decompiler.passes.deferred_annotations import restore_deferred_annotations
from depyf.decompiler.passes.definitions import restore_functions
from depyf.decompiler.passes.expressions import finish_expressions
from depyf.decompiler.passes.generators import keep_generator, return_nothing
from depyf.decompiler.passes.heads import restore_heads
from depyf.decompiler.passes.inlined import inlined_operation
from depyf.decompiler.passes.leftovers import finish_leftovers
from depyf.decompiler.passes.matches import restore_matches
from depyf.decompiler.passes.opposites import write_opposites
from depyf.decompiler.passes.plain_super import declare_super
from depyf.decompiler.passes.scopes import declare
from depyf.decompiler.passes.tidy import tidy
from depyf.decompiler.passes.tries import restore_tries
from depyf.decompiler.passes.unreached import Reached
from depyf.decompiler.passes.written.as_written import write_as_written
from depyf.decompiler.passes.written.declarations import place_declarations
from depyf.decompiler.passes.written.imports import join_imports
from depyf.decompiler.pipeline.conditions import (
    COLLAPSE,
    is_kept,
    joins_exits,
    keeps_branches,
    keeps_lists,
    levels_dispatch,
    scopes_dispatch,
    simplifies,
    structures,
)
from depyf.decompiler.pipeline.groups import (
    ANNOTATIONS,
    BUILTINS,
    CAUGHT,
    DEFINITIONS,
    FLOW,
    HANDLERS,
    KEPT,
    LISTS,
    LOOPS,
    OURS,
    PATTERNS,
    STATED,
    TESTS,
)
from depyf.decompiler.pipeline.order import ORDER
from depyf.decompiler.pipeline.work import Pass, Passes, Stage, Work, check_order, run_passes
from depyf.decompiler.steps import step
from depyf.decompiler.structure.budget import nests_too_deep
from depyf.decompiler.structure.build import Unstructured, build
from depyf.decompiler.structure.choices import Choices, Dispatch
from depyf.decompiler.structure.class_ends import end_class
from depyf.decompiler.structure.collapse import collapse, count_uses
from depyf.decompiler.structure.copies import join_copies
from depyf.decompiler.structure.dispatch.groups import check_groups
from depyf.decompiler.structure.dispatch.phis import drop_saved_offsets
from depyf.decompiler.structure.dropped import remove_dropped
from depyf.decompiler.structure.dropped_copies import join_dropped_copies
from depyf.decompiler.structure.exits import join_exits
from depyf.decompiler.structure.generator_calls import restore_generator_calls
from depyf.decompiler.structure.inlined import ADDS, DISPLAYS, find_inlined, replace_inlined, starting_blocks
from depyf.decompiler.structure.labels import Unresolved, resolve
from depyf.decompiler.structure.lead_back import lead_back
from depyf.decompiler.structure.loop_tests import part_loop_tests
from depyf.decompiler.structure.loops import Irreducible
from depyf.decompiler.structure.nests import cut, find_markers, join_ends, nests, scopes
from depyf.decompiler.structure.nodes import items_of
from depyf.decompiler.structure.one_return import join_one_return
from depyf.decompiler.structure.patterns.cases import join_cases
from depyf.decompiler.structure.patterns.hoist import hoist_behind_cases
from depyf.decompiler.structure.regions.async_ends import expand_async_ends
from depyf.decompiler.structure.regions.async_for import restore_async_for
from depyf.decompiler.structure.regions.except_star import restore_except_star
from depyf.decompiler.structure.regions.recognise import recognise
from depyf.decompiler.structure.same_ends import join_same_ends
from depyf.decompiler.structure.shared_ends import share_ends
from depyf.decompiler.structure.thread import thread
from depyf.decompiler.structure.value_copies import join_value_copies

NOTHING: frozenset[str] = frozenset()
BUILD = "build"
SCOPES = "dispatch"
WRITTEN = "as-written"
UNBINDING = ("DELETE_FAST", "LOAD_FAST_CLEAR")


# -- the input and output of each pass -----------------------------------------------------


def _lift(work: Work) -> None:
    seems = isinstance(work.choices, Choices) and work.choices.goes_beyond
    listing = work.listing if seems else replace(work.listing, beyond={}, loops=[])
    work.graph = lift(listing, work.first_temp, restores=work.choices is Dispatch.LEVELS)
    if simplifies(work):
        work.graph.is_kept, work.graph.places = False, []  # A program wrote this code: no source has exactly it.


def _dropped(work: Work) -> None:
    join_dropped_copies(work.graph)
    join_value_copies(work.graph)
    remove_dropped(work.graph)


def _results(work: Work) -> None:
    assert work.known is not None
    unpack_results(work.graph, work.known.results)


def _dead(work: Work) -> None:
    drop_restored(work.graph)
    remove_dead(work.graph)


def _reload(work: Work) -> None:
    assert work.known is not None
    reload_where_used(work.graph, work.known.unchanging)


def _on_graph(change: Callable[[Graph], None]) -> Callable[[Work], None]:
    return lambda work: change(work.graph)


def _inlined(work: Work) -> None:
    """Replace the loop of each inlined comprehension by one operation, inner ones first."""
    graph = work.graph
    blocks = starting_blocks(graph)
    while blocks:
        inlined = find_inlined(graph, blocks.pop(0))
        if inlined is None:
            continue
        part = work.part(inlined.graph)
        part.without |= {WRITTEN}  # The operation takes the loop unchanged.
        try:
            run_passes(part, PIECE)
            operation = inlined_operation(inlined, part.stmts)
        except (Unstructured, Unresolved, Irreducible):
            continue
        if operation is not None:
            step("the loop of block {} becomes {}", inlined.block.index, operation.op)
            replace_inlined(graph, inlined, operation)
            blocks = starting_blocks(graph)


def _async_for(work: Work) -> None:
    restore_async_for(work.graph)
    expand_async_ends(work.graph, keep_handlers=False)


def _except_star(work: Work) -> None:
    restore_except_star(work.graph)
    check_groups(work.graph)


def _ends(work: Work) -> None:
    if work.code.name != "<lambda>" and not work.graph.source_order and joins_exits(work):
        join_same_ends(work.graph)
        if WRITTEN not in work.without:
            join_one_return(work.graph)
    join_ends(work.graph)
    share_ends(work.graph)


def _regions(work: Work) -> None:
    work.recognised = recognise(work.graph)


def _cut(work: Work) -> None:
    work.markers = find_markers(work.graph)
    cut(work.graph, work.markers)
    work.nest = nests(work.graph, work.markers)


def _thread(work: Work) -> None:
    thread(work.graph, work.markers, work.recognised.regions)
    lead_back(work.graph)


def _copies(work: Work) -> None:
    join_copies(work.graph, work.nest)


def _scopes(work: Work) -> None:
    work.scope = scopes(work.graph, work.nest, work.recognised.finallys)
    part_loop_tests(work.graph, work.nest, work.scope)


def _cases(work: Work) -> None:
    if not FLOW.isdisjoint(work.ops):
        join_cases(work.graph, work.scope)


def _uses(work: Work) -> None:
    work.uses = count_uses(work.graph)


def _collapse(work: Work) -> None:
    if FLOW.isdisjoint(work.ops):
        work.uses = count_uses(work.graph)
    else:
        work.uses = collapse(work.graph, work.scope, work.code.name == "<lambda>")


def _build(work: Work) -> None:
    assert isinstance(work.choices, Choices)
    step("{} blocks become nested items", len(work.graph.live()))
    if FLOW.isdisjoint(work.ops):
        work.items = items_of(work.graph, work.graph.block(0), work.uses)
        return
    work.items = build(work.graph, work.recognised, work.nest, work.uses, work.choices)


def _hoist(work: Work) -> None:
    hoist_behind_cases(work.items, work.code)


def _labels(work: Work) -> None:
    work.stmts = resolve(work.items, work.graph)


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


def _expressions(work: Work) -> None:
    work.has_conditions = finish_expressions(work.stmts)


def _at_once(work: Work) -> None:
    unbound = {item.arg for item in work.listing.instructions if item.op in UNBINDING}
    work.stmts = use_at_once(work.stmts, frozenset(work.code.parameters) - unbound)


def _tidy(work: Work) -> None:
    tidy(work.stmts, in_order=work.graph.source_order)


def _opposites(work: Work) -> None:
    write_opposites(work.stmts, negates=work.graph.negates)


def _written(work: Work) -> None:
    write_as_written(work.stmts, work.listing, work.ops, has_source=is_kept(work), has_conditions=work.has_conditions)


def _deferred(work: Work) -> None:
    work.body.stmts = restore_deferred_annotations(work.body.stmts, work.code, work.bodies)


def _annotations(work: Work) -> None:
    work.body.stmts = restore_annotations(work.body.stmts, work.code)


def _annotation_setup(work: Work) -> None:
    work.body.stmts = set_annotations_up(work.body.stmts, work.code)


def _generators(work: Work) -> None:
    work.body.stmts = keep_generator(return_nothing(work.body.stmts, work.code), work.code)


def _class_temps(work: Work) -> None:
    work.body.stmts = unbind_class_temps(work.body.stmts, work.code)


def _definitions(work: Work) -> None:
    work.body.stmts = restore_functions(work.body.stmts, work.code, work.bodies)


def _declarations(work: Work) -> None:
    declare(work.body, Reached.of(work.listing))
    if is_kept(work) and WRITTEN not in work.without:
        place_declarations(work.body)


def _imports(work: Work) -> None:
    work.body.stmts = join_imports(work.body.stmts)


def _super(work: Work) -> None:
    declare_super(work.body)


def _leftovers(work: Work) -> None:
    finish_leftovers(work.body, work.names, work.bodies)


# -- the table ---------------------------------------------------------------------------


def _simplifying(*passes: Pass) -> tuple[Pass, ...]:
    return tuple(replace(one, applies=simplifies, unless=STATED) for one in passes)


def _flowing(*passes: Pass) -> tuple[Pass, ...]:
    return tuple(replace(one, applies=structures, needs=one.needs or FLOW) for one in passes)


def _structuring(*passes: Pass) -> tuple[Pass, ...]:
    return tuple(replace(one, applies=structures) for one in passes)


PASSES: tuple[Pass, ...] = (
    Pass("lift", Stage.LIFT, _lift, "execute each block on a symbolic stack: three-address code"),
    Pass("generator-calls", Stage.LIFT, _on_graph(restore_generator_calls), "restore inlined `any()`", needs=BUILTINS),
    Pass("dropped", Stage.LIFT, _dropped, "remove dropped values of tests from the stack", optional=True, needs=FLOW),
    *_simplifying(
        Pass(
            "promote-variables",
            Stage.LIFT,
            _on_graph(promote_variables),
            "replace variables that are only copies by their values",
            optional=True,
        ),
        Pass(
            "containers",
            Stage.LIFT,
            _on_graph(evaluate_containers),
            "remove lists that are only unpacked",
            optional=True,
            needs=LISTS,
        ),
        Pass("results", Stage.LIFT, _results, "unpack the sequence that a graph returns", optional=True),
        Pass("dead-values", Stage.LIFT, _dead, "remove unused values and stores without effect", optional=True),
        Pass("reload", Stage.LIFT, _reload, "load unchanging values where they are used", optional=True),
        Pass("free-names", Stage.LIFT, lambda work: work.names.free(work.graph), "free the names of removed variables"),
    ),
    Pass(
        "inlined-comprehensions",
        Stage.LIFT,
        _inlined,
        "turn loops of inlined comprehensions into expressions",
        needs=ADDS.union(DISPLAYS, {"LOAD_FAST_CLEAR"}),
    ),
    *_structuring(
        Pass("class-ends", Stage.STRUCTURE, _on_graph(end_class), "remove the return at the end of a class body"),
        Pass(
            "async-for",
            Stage.STRUCTURE,
            _async_for,
            "turn the handler that ends `async for` into an exit of a block",
            needs=frozenset({"END_ASYNC_FOR"}),
        ),
        Pass("except-star", Stage.STRUCTURE, _except_star, "remove the bookkeeping of `except*`", needs=CAUGHT),
        Pass("dead-phis", Stage.STRUCTURE, _on_graph(drop_saved_offsets), "remove the saved offsets of exceptions"),
        Pass("ends", Stage.STRUCTURE, _ends, "redirect every `return None` to one block"),
    ),
    Pass("exits", Stage.STRUCTURE, _on_graph(join_exits), "join copies of an exit", applies=joins_exits),
    *_flowing(
        Pass("regions", Stage.STRUCTURE, _regions, "recognise protected regions, remove their bookkeeping"),
        Pass("cut", Stage.STRUCTURE, _cut, "cut blocks at the exits of loops and handlers"),
        Pass("thread", Stage.STRUCTURE, _thread, "redirect edges past empty blocks", optional=True),
        Pass("copies", Stage.STRUCTURE, _copies, "join copies of expressions", optional=True, needs=TESTS),
        Pass("scopes", Stage.STRUCTURE, _scopes, "number blocks by their nesting"),
        Pass("cases", Stage.STRUCTURE, _cases, "join the tests of a pattern", needs=PATTERNS | {"COMPARE"}),
    ),
    *_structuring(Pass(COLLAPSE, Stage.STRUCTURE, _collapse, "turn `and`, `or`, `if else` into expressions")),
    Pass("uses", Stage.STRUCTURE, _uses, "count the uses of each value", applies=keeps_branches),
    *_structuring(
        Pass(BUILD, Stage.STRUCTURE, _build, "nest items by loops, regions and dominance", optional=True),
        Pass("hoist", Stage.ITEMS, _hoist, "move code shared by cases after them", optional=True, needs=KEPT),
        Pass("labels", Stage.ITEMS, _labels, "turn jumps into `break`, `continue`, `return` or nothing"),
    ),
    *_flowing(
        Pass("matches", Stage.STATEMENTS, _matches, "turn tests of patterns into `match`", optional=True),
        Pass("asserts", Stage.STATEMENTS, _asserts, "turn raises of AssertionError into `assert`", needs=BUILTINS),
        Pass("tries", Stage.STATEMENTS, _tries, "split the code of handlers into clauses", needs=HANDLERS),
        Pass(
            "heads",
            Stage.STATEMENTS,
            _heads,
            "move iterables, managers and targets to their `for` and `with`",
            needs=LOOPS | HANDLERS,
        ),
        Pass("complete", Stage.STATEMENTS, _complete, "check that every node is a Python statement"),
    ),
    Pass(
        SCOPES,
        Stage.STATEMENTS,
        _dispatch,
        "dispatch on the number of a block, with a `try` for each handler",
        optional=True,
        applies=scopes_dispatch,
    ),
    Pass(
        "dispatch-levels",
        Stage.STATEMENTS,
        _dispatch,
        "dispatch on the number of a block, with one `try` for all handlers",
        applies=levels_dispatch,
    ),
    Pass("expressions", Stage.STATEMENTS, _expressions, "finish expressions"),
    *_simplifying(
        Pass("at-once", Stage.STATEMENTS, _at_once, "move values into the next statement", optional=True),
    ),
    *_structuring(
        Pass("tidy", Stage.STATEMENTS, _tidy, "remove each needless `else`", optional=True, needs=FLOW),
        Pass("opposites", Stage.STATEMENTS, _opposites, "move `not` to the operands", optional=True, needs=TESTS),
        Pass(WRITTEN, Stage.STATEMENTS, _written, "among equivalent forms, choose the author's", optional=True),
    ),
    Pass("deferred-annotations", Stage.BODY, _deferred, "move annotations from `__annotate__` to their variables"),
    Pass(
        "annotations",
        Stage.BODY,
        _annotations,
        "turn items of `__annotations__` into annotations",
        optional=True,
        needs=ANNOTATIONS,
    ),
    Pass(
        "annotation-setup",
        Stage.BODY,
        _annotation_setup,
        "set up `__annotations__` if no annotation does",
        needs=ANNOTATIONS,
    ),
    Pass("generators", Stage.BODY, _generators, "keep generators without `yield` generators"),
    Pass("class-temps", Stage.BODY, _class_temps, "unbind the temporaries of a class body", optional=True),
    Pass(
        "definitions",
        Stage.BODY,
        _definitions,
        "insert the bodies of functions, classes, comprehensions and lambdas",
        needs=DEFINITIONS,
    ),
    Pass("declarations", Stage.BODY, _declarations, "declare `global` and `nonlocal`"),
    Pass("leftovers", Stage.WHOLE, _leftovers, "name temporaries and objects without a literal"),
    Pass("imports", Stage.WHOLE, _imports, "join imports that come from one statement", optional=True),
    Pass("super", Stage.WHOLE, _super, "declare `global super` if its attributes are loaded in steps", applies=is_kept),
)
"""All passes, in the order in which they run."""

check_order(PASSES, ORDER)

ALONE = Passes(one for one in PASSES if one.stage not in (Stage.BODY, Stage.WHOLE))
PIECE = Passes(one for one in ALONE.passes if one.stage is not Stage.LIFT)
TOGETHER = Passes(one for one in PASSES if one.stage is Stage.BODY)
LAST = Passes(one for one in PASSES if one.stage is Stage.WHOLE)
"""The passes by their scope: a code object, a loop inside one, a body with its nested ones, the outermost body."""

OPTIONAL = frozenset(one.name for one in PASSES if one.optional)
"""The passes that can be left out."""
