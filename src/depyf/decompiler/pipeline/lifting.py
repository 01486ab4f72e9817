"""The passes on graphs that all code runs, and those on straight-line code: their input and output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from depyf.decompiler.graph.tac import Graph
from depyf.decompiler.graph.uses import count_uses
from depyf.decompiler.lift.definitions import LAZY
from depyf.decompiler.lift.simplify.containers import evaluate_containers
from depyf.decompiler.lift.simplify.dead import remove_dead
from depyf.decompiler.lift.simplify.promote import promote_variables
from depyf.decompiler.lift.simplify.reload import reload_where_used
from depyf.decompiler.lift.simplify.restored import drop_restored
from depyf.decompiler.lift.simplify.results import unpack_results
from depyf.decompiler.lift.simulate import lift
from depyf.decompiler.passes.conditions import COLLAPSE, joins_exits, keeps_branches, simplifies, structures
from depyf.decompiler.passes.groups import FLOW, LISTS, STATED
from depyf.decompiler.passes.inlined import inlined_operation
from depyf.decompiler.passes.names import Names
from depyf.decompiler.passes.registry import WRITTEN, Stage, registers
from depyf.decompiler.pipeline.work import BUILD, Passes, Work, run_passes
from depyf.decompiler.steps import step
from depyf.decompiler.structure.choices import Choices, Dispatch
from depyf.decompiler.structure.class_ends import end_class
from depyf.decompiler.structure.dispatch.phis import drop_saved_offsets
from depyf.decompiler.structure.exits import join_exits
from depyf.decompiler.structure.inlined import ADDS, DISPLAYS, find_inlined, replace_inlined, starting_blocks
from depyf.decompiler.structure.labels import Unresolved, resolve
from depyf.decompiler.structure.loops import Irreducible
from depyf.decompiler.structure.nests import join_ends
from depyf.decompiler.structure.nodes import items_of
from depyf.decompiler.structure.one_return import join_one_return
from depyf.decompiler.structure.same_ends import join_same_ends
from depyf.decompiler.structure.shared_ends import share_ends
from depyf.decompiler.structure.unstructured import Unstructured

PIECE = Passes(lambda entry: entry.stage in (Stage.STRUCTURE, Stage.ITEMS, Stage.STATEMENTS))
"""The passes of a loop inside a code object."""


@registers("lift", Stage.LIFT, "execute each block on a symbolic stack: three-address code")
def lift_code(work: Work) -> None:
    """Make the graph of the code."""
    seems = isinstance(work.choices, Choices) and work.choices.goes_beyond
    listing = work.listing if seems else replace(work.listing, beyond={}, loops=[])
    work.graph = lift(listing, work.first_temp, restores=work.choices is Dispatch.LEVELS)
    if simplifies(work):
        work.graph.is_kept, work.graph.places = False, []  # A program wrote this code: no source has exactly it.


# -- code that a program wrote, in its most readable form ---------------------------------


@registers(
    "promote-variables",
    Stage.LIFT,
    "replace variables that are only copies by their values",
    takes=("graph",),
    optional=True,
    applies=simplifies,
    unless=STATED,
    after={"lift": "it makes the graph"},
    before={"containers": "a list can be followed only after its variable is a value"},
)
def promote(graph: Graph) -> None:
    """Replace variables that are only copies."""
    promote_variables(graph)


@registers(
    "containers",
    Stage.LIFT,
    "remove lists that are only unpacked",
    takes=("graph",),
    optional=True,
    applies=simplifies,
    needs=LISTS,
    unless=STATED,
    before={
        "results": "the results of a graph are in lists until these are evaluated",
        "dead-values": "the items of a removed list are unused",
    },
)
def remove_containers(graph: Graph) -> None:
    """Evaluate the lists that are only unpacked."""
    evaluate_containers(graph)


@registers(
    "results",
    Stage.LIFT,
    "unpack the sequence that a graph returns",
    takes=("graph", "known.results"),
    optional=True,
    applies=simplifies,
    unless=STATED,
    after={"lift": "it makes the graph"},
)
def unpack(graph: Graph, results: Mapping[str, Sequence[str]]) -> None:
    """Unpack the results of graphs."""
    unpack_results(graph, results)


@registers(
    "dead-values",
    Stage.LIFT,
    "remove unused values and stores without effect",
    takes=("graph",),
    optional=True,
    applies=simplifies,
    unless=STATED,
    before={"reload": "unused values must not be loaded again"},
)
def remove_unused(graph: Graph) -> None:
    """Remove what has no effect."""
    drop_restored(graph)
    remove_dead(graph)


@registers(
    "reload",
    Stage.LIFT,
    "load unchanging values where they are used",
    takes=("graph", "known.unchanging"),
    optional=True,
    applies=simplifies,
    unless=STATED,
    before={"free-names": "a reloaded value names its variable"},
)
def reload(graph: Graph, unchanging: frozenset[str]) -> None:
    """Load unchanging values again."""
    reload_where_used(graph, unchanging)


@registers(
    "free-names",
    Stage.LIFT,
    "free the names of removed variables",
    takes=("graph", "names"),
    applies=simplifies,
    unless=STATED,
)
def free_names(graph: Graph, names: Names) -> None:
    """Free the names of removed variables."""
    names.free(graph)


# -- the structure of all code ------------------------------------------------------------


@registers(
    "inlined-comprehensions",
    Stage.LIFT,
    "turn loops of inlined comprehensions into expressions",
    needs=ADDS.union(DISPLAYS, {"LOAD_FAST_CLEAR"}),
    after={"lift": "it makes the graph", "generator-calls": "both paths contain the comprehensions in the argument"},
    before={"regions": "the handler that restores saved variables is no `try`"},
)
def restore_inlined(work: Work) -> None:
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


@registers(
    "class-ends",
    Stage.STRUCTURE,
    "remove the return at the end of a class body",
    takes=("graph",),
    applies=structures,
    before={"ends": "it makes every end of a class body `return None`"},
)
def remove_class_end(graph: Graph) -> None:
    """Remove the return of a class body."""
    end_class(graph)


@registers(
    "dead-phis",
    Stage.STRUCTURE,
    "remove the saved offsets of exceptions",
    takes=("graph",),
    applies=structures,
)
def remove_saved_offsets(graph: Graph) -> None:
    """Remove the saved offsets of exceptions."""
    drop_saved_offsets(graph)


@registers(
    "ends",
    Stage.STRUCTURE,
    "redirect every `return None` to one block",
    applies=structures,
    before={
        "exits": "`return None` occurs everywhere without being a copy",
        "regions": "copies of `finally` are distinguished by their targets",
    },
)
def redirect_ends(work: Work) -> None:
    """Redirect every `return None` to one block."""
    is_expression = work.code.name == "<lambda>" or work.code.parameters == LAZY
    if not is_expression and not work.graph.source_order and joins_exits(work):
        join_same_ends(work.graph)
        if WRITTEN not in work.without:
            join_one_return(work.graph)
    join_ends(work.graph)
    share_ends(work.graph)


@registers(
    "exits",
    Stage.STRUCTURE,
    "join copies of an exit",
    takes=("graph",),
    applies=joins_exits,
    before={"regions": "copies of a region's exit must be joined"},
)
def join_copied_exits(graph: Graph) -> None:
    """Join copies of an exit."""
    join_exits(graph)


@registers(
    COLLAPSE,
    Stage.STRUCTURE,
    "turn `and`, `or`, `if else` into expressions",
    applies=structures,
    before={
        "uses": "it counts uses itself; the other pass replaces it when it is left out",
        "build": "an arm of an expression would be built as an `if`",
    },
    after={"scopes": "tests are joined within one scope"},
)
def collapse_short_circuits(work: Work) -> None:
    """Turn short circuits into expressions."""
    if FLOW.isdisjoint(work.ops):
        work.uses = count_uses(work.graph)
    else:
        from depyf.decompiler.structure.collapse import collapse

        work.uses = collapse(work.graph, work.scope, work.code.name == "<lambda>")


@registers(
    "uses",
    Stage.STRUCTURE,
    "count the uses of each value",
    applies=keeps_branches,
    before={"build": "an expression with one use is written there"},
)
def count_all_uses(work: Work) -> None:
    """Count the uses of each value."""
    work.uses = count_uses(work.graph)


@registers(
    BUILD, Stage.STRUCTURE, "nest items by loops, regions and dominance", optional=True, applies=structures
)
def build_items(work: Work) -> None:
    """Nest items."""
    step("{} blocks become nested items", len(work.graph.live()))
    if FLOW.isdisjoint(work.ops):
        work.items = items_of(work.graph, work.graph.block(0), work.uses)
        return
    from depyf.decompiler.structure.build import build

    assert isinstance(work.choices, Choices)
    work.items = build(work.graph, work.recognised, work.nest, work.uses, work.choices)


@registers(
    "labels",
    Stage.ITEMS,
    "turn jumps into `break`, `continue`, `return` or nothing",
    applies=structures,
    before={"matches": "a case ends where it falls through"},
)
def resolve_labels(work: Work) -> None:
    """Turn jumps to labels into exits."""
    work.stmts = resolve(work.items, work.graph)
