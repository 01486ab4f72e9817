"""The whole decompiler on one page: from a `Code` to statements.

PASSES lists the passes in the order in which they run; `order.ORDER` gives the reasons for that order. `check_order`
compares the two when this module is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from depyf.decompiler.graph.tac import Graph
from depyf.decompiler.graph.uses import count_uses
from depyf.decompiler.lift.simplify.containers import evaluate_containers
from depyf.decompiler.lift.simplify.dead import remove_dead
from depyf.decompiler.lift.simplify.promote import promote_variables
from depyf.decompiler.lift.simplify.reload import reload_where_used
from depyf.decompiler.lift.simplify.restored import drop_restored
from depyf.decompiler.lift.simplify.results import unpack_results
from depyf.decompiler.lift.simulate import lift
from depyf.decompiler.passes.annotations import restore_annotations, set_annotations_up
from depyf.decompiler.passes.at_once import use_at_once
from depyf.decompiler.passes.class_temps import unbind_class_temps
from depyf.decompiler.passes.deferred_annotations import restore_deferred_annotations
from depyf.decompiler.passes.definitions import restore_functions
from depyf.decompiler.passes.expressions import finish_expressions
from depyf.decompiler.passes.generators import keep_generator, return_nothing
from depyf.decompiler.passes.inlined import inlined_operation
from depyf.decompiler.passes.leftovers import finish_leftovers
from depyf.decompiler.passes.plain_super import declare_super
from depyf.decompiler.passes.scopes import declare
from depyf.decompiler.passes.source_form.as_written import write_as_written
from depyf.decompiler.passes.source_form.declarations import place_declarations
from depyf.decompiler.passes.source_form.imports import join_imports
from depyf.decompiler.passes.unreached import Reached
from depyf.decompiler.pipeline.conditions import (
    COLLAPSE,
    is_kept,
    joins_exits,
    keeps_branches,
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
    PATTERNS,
    STATED,
    TESTS,
)
from depyf.decompiler.pipeline.order import ORDER
from depyf.decompiler.pipeline.work import Pass, Passes, Stage, Work, check_order, run_passes
from depyf.decompiler.steps import step
from depyf.decompiler.structure.choices import Choices, Dispatch
from depyf.decompiler.structure.class_ends import end_class
from depyf.decompiler.structure.dispatch.phis import drop_saved_offsets
from depyf.decompiler.structure.exits import join_exits
from depyf.decompiler.structure.inlined import ADDS, DISPLAYS, find_inlined, replace_inlined, starting_blocks
from depyf.decompiler.structure.labels import Unresolved, resolve
from depyf.decompiler.structure.loops import Irreducible
from depyf.decompiler.structure.nests import cut, find_markers, join_ends, nests
from depyf.decompiler.structure.nodes import items_of
from depyf.decompiler.structure.one_return import join_one_return
from depyf.decompiler.structure.same_ends import join_same_ends
from depyf.decompiler.structure.shared_ends import share_ends
from depyf.decompiler.structure.unstructured import Unstructured

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


def _results(work: Work) -> None:
    assert work.known is not None
    unpack_results(work.graph, work.known.results)


def _dead(work: Work) -> None:
    drop_restored(work.graph)
    remove_dead(work.graph)


def _reload(work: Work) -> None:
    assert work.known is not None
    reload_where_used(work.graph, work.known.unchanging)


def _flow(name: str, needs: frozenset[str] = NOTHING) -> Callable[[Work], None]:
    """Return a pass of `flow.py`, which is imported when the pass first runs.

    needs: operations; without any of them the pass has nothing to do, whatever else the code has.
    """

    def run(work: Work) -> None:
        if needs and needs.isdisjoint(work.ops):
            return
        from depyf.decompiler.pipeline.flow import RUN

        RUN[name](work)

    return run


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


def _ends(work: Work) -> None:
    if work.code.name != "<lambda>" and not work.graph.source_order and joins_exits(work):
        join_same_ends(work.graph)
        if WRITTEN not in work.without:
            join_one_return(work.graph)
    join_ends(work.graph)
    share_ends(work.graph)


def _cut(work: Work) -> None:
    work.markers = find_markers(work.graph)
    cut(work.graph, work.markers)
    work.nest = nests(work.graph, work.markers)


def _uses(work: Work) -> None:
    work.uses = count_uses(work.graph)


def _collapse(work: Work) -> None:
    if FLOW.isdisjoint(work.ops):
        work.uses = count_uses(work.graph)
    else:
        _flow("collapse")(work)


def _build(work: Work) -> None:
    step("{} blocks become nested items", len(work.graph.live()))
    if FLOW.isdisjoint(work.ops):
        work.items = items_of(work.graph, work.graph.block(0), work.uses)
    else:
        _flow("build")(work)


def _labels(work: Work) -> None:
    work.stmts = resolve(work.items, work.graph)


def _expressions(work: Work) -> None:
    work.has_conditions = finish_expressions(work.stmts)


def _at_once(work: Work) -> None:
    unbound = {item.arg for item in work.listing.instructions if item.op in UNBINDING}
    work.stmts = use_at_once(work.stmts, frozenset(work.code.parameters) - unbound)


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
    Pass("generator-calls", Stage.LIFT, _flow("generator-calls"), "restore inlined `any()`", needs=BUILTINS),
    Pass(
        "dropped",
        Stage.LIFT,
        _flow("dropped"),
        "remove dropped values of tests from the stack",
        optional=True,
        needs=FLOW,
    ),
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
            _flow("async-for"),
            "turn the handler that ends `async for` into an exit of a block",
            needs=frozenset({"END_ASYNC_FOR"}),
        ),
        Pass("except-star", Stage.STRUCTURE, _flow("except-star"), "remove the bookkeeping of `except*`", needs=CAUGHT),
        Pass("dead-phis", Stage.STRUCTURE, _on_graph(drop_saved_offsets), "remove the saved offsets of exceptions"),
        Pass("ends", Stage.STRUCTURE, _ends, "redirect every `return None` to one block"),
    ),
    Pass("exits", Stage.STRUCTURE, _on_graph(join_exits), "join copies of an exit", applies=joins_exits),
    *_flowing(
        Pass("regions", Stage.STRUCTURE, _flow("regions"), "recognise protected regions, remove their bookkeeping"),
        Pass("cut", Stage.STRUCTURE, _cut, "cut blocks at the exits of loops and handlers"),
        Pass("thread", Stage.STRUCTURE, _flow("thread"), "redirect edges past empty blocks", optional=True),
        Pass("copies", Stage.STRUCTURE, _flow("copies"), "join copies of expressions", optional=True, needs=TESTS),
        Pass("scopes", Stage.STRUCTURE, _flow("scopes"), "number blocks by their nesting"),
        Pass(
            "cases",
            Stage.STRUCTURE,
            _flow("cases", FLOW),
            "join the tests of a pattern",
            needs=PATTERNS | {"COMPARE"},
        ),
    ),
    *_structuring(Pass(COLLAPSE, Stage.STRUCTURE, _collapse, "turn `and`, `or`, `if else` into expressions")),
    Pass("uses", Stage.STRUCTURE, _uses, "count the uses of each value", applies=keeps_branches),
    *_structuring(
        Pass(BUILD, Stage.STRUCTURE, _build, "nest items by loops, regions and dominance", optional=True),
        Pass(
            "hoist",
            Stage.ITEMS,
            _flow("hoist", FLOW),
            "move code shared by cases after them",
            optional=True,
            needs=KEPT,
        ),
        Pass("labels", Stage.ITEMS, _labels, "turn jumps into `break`, `continue`, `return` or nothing"),
    ),
    *_flowing(
        Pass("matches", Stage.STATEMENTS, _flow("matches"), "turn tests of patterns into `match`", optional=True),
        Pass(
            "asserts",
            Stage.STATEMENTS,
            _flow("asserts"),
            "turn raises of AssertionError into `assert`",
            needs=BUILTINS,
        ),
        Pass("tries", Stage.STATEMENTS, _flow("tries"), "split the code of handlers into clauses", needs=HANDLERS),
        Pass(
            "heads",
            Stage.STATEMENTS,
            _flow("heads"),
            "move iterables, managers and targets to their `for` and `with`",
            needs=LOOPS | HANDLERS,
        ),
        Pass("complete", Stage.STATEMENTS, _flow("complete"), "check that every node is a Python statement"),
    ),
    Pass(
        SCOPES,
        Stage.STATEMENTS,
        _flow("dispatch"),
        "dispatch on the number of a block, with a `try` for each handler",
        optional=True,
        applies=scopes_dispatch,
    ),
    Pass(
        "dispatch-levels",
        Stage.STATEMENTS,
        _flow("dispatch"),
        "dispatch on the number of a block, with one `try` for all handlers",
        applies=levels_dispatch,
    ),
    Pass("expressions", Stage.STATEMENTS, _expressions, "finish expressions"),
    *_simplifying(
        Pass("at-once", Stage.STATEMENTS, _at_once, "move values into the next statement", optional=True),
    ),
    *_structuring(
        Pass("tidy", Stage.STATEMENTS, _flow("tidy"), "remove each needless `else`", optional=True, needs=FLOW),
        Pass(
            "opposites",
            Stage.STATEMENTS,
            _flow("opposites"),
            "move `not` to the operands",
            optional=True,
            needs=TESTS,
        ),
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
