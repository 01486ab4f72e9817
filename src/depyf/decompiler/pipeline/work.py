"""One code object on its way through the pipeline, and the definition of a pass."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import field
from functools import cache
from typing import TYPE_CHECKING

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Listing
from depyf.bytecode.records import dataclass
from depyf.decompiler.graph.tac import Graph
from depyf.decompiler.lift.simplify import Known
from depyf.decompiler.passes.body import Bodies, Body
from depyf.decompiler.passes.groups import BUILTINS, FLOW, SEVERAL
from depyf.decompiler.passes.names import Names
from depyf.decompiler.passes.registry import REGISTERED, load_flow, ordered
from depyf.decompiler.passes.registry import Pass as Pass
from depyf.decompiler.passes.registry import Stage as Stage
from depyf.decompiler.steps import Stopped, present
from depyf.decompiler.structure.choices import Choices, Dispatch
from depyf.decompiler.structure.labels import Unresolved
from depyf.decompiler.structure.loops import Irreducible
from depyf.decompiler.structure.tree import Item
from depyf.decompiler.structure.unstructured import Unstructured
from depyf.errors import DecompilationError

if TYPE_CHECKING:
    from depyf.decompiler.structure.regions.recognise import Recognised

BUILD = "build"
SCOPES = "dispatch"
FLOWS = FLOW | BUILTINS
"""Operations of code for which the passes of control flow are imported."""
MOST_KNOWN = 1 << 12
"""The most kinds of code for which the applicable passes are cached."""


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


class Fault(Exception):
    """A pass raised an unexpected exception, which is the `__cause__`."""

    def __init__(self, pass_: Pass, error: Exception) -> None:
        self.failed = pass_
        super().__init__(f"a fault of depyf's own in {pass_.name}: {type(error).__name__}: {error}")


EXPECTED = (DecompilationError, Unstructured, Unresolved, Irreducible, Stopped, Fault)
"""The exceptions that a pass may raise."""


class Passes:
    """The registered passes of some stages. Those that apply are cached by the facts on which this depends."""

    def __init__(self, belongs: Callable[[Pass], bool]) -> None:
        self.belongs = belongs
        self.known: dict[tuple[object, ...], list[Pass]] = {}

    @property
    def passes(self) -> tuple[Pass, ...]:
        """The passes in their order, whether or not they apply."""
        return tuple(pass_ for pass_ in _registered(True)[0] if self.belongs(pass_))

    def applying(self, work: Work) -> list[Pass]:
        """Return the passes that apply and are not left out, in their order."""
        flows = isinstance(work.choices, Dispatch) or not FLOWS.isdisjoint(work.ops)
        passes, asked = _registered(flows)
        alike = (flows, work.known is None, work.choices, work.without, asked & work.ops)
        applicable = self.known.get(alike)
        if applicable is None:
            if len(self.known) == MOST_KNOWN:
                self.known.clear()
            applicable = [pass_ for pass_ in passes if self.belongs(pass_) and _applies(pass_, work)]
            self.known[alike] = applicable
        return applicable


def _applies(pass_: Pass, work: Work) -> bool:
    if pass_.needs and pass_.needs.isdisjoint(work.ops):
        return False
    if not pass_.unless.isdisjoint(work.ops):
        return False
    return pass_.name not in work.without and pass_.applies(work)


@cache
def _registered(flows: bool) -> tuple[tuple[Pass, ...], frozenset[str]]:
    """Return the passes for straight-line code, or all, in their order, and the operations that they ask for."""
    if flows:
        load_flow()
    passes = ordered(pass_ for pass_ in REGISTERED.values() if flows or pass_.is_eager)
    return passes, frozenset().union(*(pass_.needs | pass_.unless for pass_ in passes))


def run_passes(work: Work, passes: Passes) -> None:
    """Run the passes that apply and are not left out.

    Raises the exceptions that passes may raise, and Fault for any other.
    """
    recorder = present()
    for pass_ in passes.applying(work):
        try:
            pass_.run(work)
        except EXPECTED:
            raise
        except Exception as error:  # noqa: BLE001  another way is tried, and the fault is told
            raise Fault(pass_, error) from error
        if recorder is not None:
            recorder.after(pass_.name, work)
