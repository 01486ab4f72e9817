"""One code object on its way through the pipeline, and the definition of a pass."""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import TYPE_CHECKING

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Listing
from depyf.bytecode.records import dataclass
from depyf.decompiler.graph.tac import Graph
from depyf.decompiler.lift.simplify import Known
from depyf.decompiler.passes.body import Bodies, Body
from depyf.decompiler.passes.names import Names
from depyf.decompiler.pipeline.groups import SEVERAL
from depyf.decompiler.steps import Stopped, present
from depyf.decompiler.structure.choices import Choices, Dispatch
from depyf.decompiler.structure.labels import Unresolved
from depyf.decompiler.structure.loops import Irreducible
from depyf.decompiler.structure.tree import Item
from depyf.decompiler.structure.unstructured import Unstructured
from depyf.errors import DecompilationError

if TYPE_CHECKING:
    from depyf.decompiler.structure.regions.recognise import Recognised

MOST_KNOWN = 1 << 12
"""The most kinds of code for which the applicable passes are cached."""


class Stage(enum.Enum):
    """The form that a pass works on. The stages follow each other in this order."""

    LIFT = "lift"
    """The graph, before statements are recovered."""
    STRUCTURE = "structure"
    """The graph, on the way to nested items."""
    ITEMS = "items"
    """Nested items with jumps to labels."""
    STATEMENTS = "statements"
    """The statements of one code object, without nested ones."""
    BODY = "body"
    """The statements of one code object with its nested ones."""
    WHOLE = "whole"
    """The complete statements of the outermost code object."""


@dataclass(slots=True)
class Work:
    """The state that passes share. A field exists after the pass that sets it.

    bodies: the results for the nested code objects.
    first_temp: the first unused number of a temporary.
    known: facts about the globals that it names, if code is rewritten to its most readable form.
    without: names of disabled passes.
    ops: the operations of the listing, by name.
    choices: how to structure, or which dispatch to write.
    scope: a number per block; only blocks with the same number are joined to expressions.
    uses: how often each temporary is read.
    has_conditions: whether the code contains `and`, `or` or conditional expressions.
    """

    code: Code
    names: Names
    bodies: Bodies
    first_temp: int
    known: Known | None
    without: frozenset[str]
    listing: Listing
    choices: Choices | Dispatch = field(default_factory=Choices)
    ops: frozenset[str] = field(init=False)
    graph: Graph = field(init=False)
    recognised: Recognised = field(init=False)
    markers: set[int] = field(init=False)
    nest: dict[int, tuple[int, ...]] = field(init=False)
    scope: dict[int, int] = field(init=False)
    uses: dict[int, int] = field(init=False)
    items: list[Item] = field(init=False)
    stmts: list[ast.stmt] = field(init=False)
    has_conditions: bool = field(init=False)
    body: Body = field(init=False)

    def __post_init__(self) -> None:
        listing = self.listing
        self.ops = listing.ops
        if listing.handlers or listing.loops or listing.beyond:
            self.ops |= {SEVERAL}

    def forget(self) -> None:
        """Release the forms that precede statements; the settings of the graph stay."""
        self.graph.blocks, self.items = [], []
        self.nest, self.scope, self.uses = {}, {}, {}

    def part(self, graph: Graph) -> Work:
        """Return separate work on the graph of a piece of this code."""
        work = Work(
            self.code, self.names, self.bodies, self.first_temp, None, self.without, self.listing, Choices()
        )
        work.graph = graph
        return work


def always(work: Work) -> bool:
    """Apply a pass to all code."""
    return True


@dataclass(frozen=True, slots=True)
class Pass:
    """One step of the pipeline.

    name: its name for `--stop-after` and `--without`.
    does: one line for the reader of a trace.
    optional: without it the result is correct, but uglier.
    applies: whether it may apply to this work; it reads only `known`, `choices` and `without`.
    needs: operations; without any of them the pass has nothing to do.
    unless: operations; if one of them is present, the pass would destroy the form that a later pass recognises.
    """

    name: str
    stage: Stage
    run: Callable[[Work], None]
    does: str
    optional: bool = False
    applies: Callable[[Work], bool] = always
    needs: frozenset[str] = frozenset()
    unless: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Before:
    """`first` runs before `then`, and why."""

    first: str
    then: str
    because: str


class Fault(Exception):
    """A pass raised an unexpected exception, which is the `__cause__`."""

    def __init__(self, one: Pass, error: Exception) -> None:
        self.failed = one
        super().__init__(f"a fault of depyf's own in {one.name}: {type(error).__name__}: {error}")


EXPECTED = (DecompilationError, Unstructured, Unresolved, Irreducible, Stopped, Fault)
"""The exceptions that a pass may raise."""


class Passes:
    """Passes in their order. The passes that apply are cached by the facts on which this depends."""

    def __init__(self, passes: Iterable[Pass]) -> None:
        self.passes = tuple(passes)
        self.asked = frozenset().union(*(one.needs | one.unless for one in self.passes))
        self.known: dict[tuple[object, ...], list[Pass]] = {}

    def applying(self, work: Work) -> list[Pass]:
        """Return the passes that apply and are not left out."""
        alike = (work.known is None, work.choices, work.without, self.asked & work.ops)
        found = self.known.get(alike)
        if found is None:
            if len(self.known) == MOST_KNOWN:
                self.known.clear()
            found = self.known[alike] = [one for one in self.passes if self._applies(one, work)]
        return found

    def _applies(self, one: Pass, work: Work) -> bool:
        if one.needs and one.needs.isdisjoint(work.ops):
            return False
        if not one.unless.isdisjoint(work.ops):
            return False
        return one.name not in work.without and one.applies(work)


def run_passes(work: Work, passes: Passes) -> None:
    """Run the passes that apply and are not left out.

    Raises the exceptions that passes may raise, and Fault for any other.
    """
    recorder = present()
    for one in passes.applying(work):
        try:
            one.run(work)
        except EXPECTED:
            raise
        except Exception as error:  # noqa: BLE001  another way is tried, and the fault is told
            raise Fault(one, error) from error
        if recorder is not None:
            recorder.after(one.name, work)


class Misordered(AssertionError):
    """The table of passes violates one of its rules."""


def check_order(passes: tuple[Pass, ...], order: tuple[Before, ...]) -> None:
    """Check a table of passes against its constraints.

    Raises Misordered for a duplicate or unknown name, a stage before its predecessor, and a violated constraint.
    """
    places = {one.name: place for place, one in enumerate(passes)}
    if len(places) != len(passes):
        raise Misordered("two passes have one name")
    stages = list(Stage)
    for one, following in zip(passes, passes[1:]):
        if stages.index(one.stage) > stages.index(following.stage):
            raise Misordered(f"{following.name} works on {following.stage.value}, which {one.name} has already left")
    for constraint in order:
        for name in (constraint.first, constraint.then):
            if name not in places:
                raise Misordered(f"a constraint names {name}, which is no pass")
        if places[constraint.first] >= places[constraint.then]:
            raise Misordered(f"{constraint.first} must run before {constraint.then}: {constraint.because}")
