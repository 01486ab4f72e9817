"""The registry of passes: a pass registers itself where it is written, with what it takes, needs and follows.

    @registers("tidy", Stage.STATEMENTS, "remove each needless `else`", takes=("stmts",), needs=FLOW,
               after={"asserts": "an assertion is recognised by its `else`, which is removed"})
    def tidy(body): ...

The modules of `passes/` are imported with the table of passes, and those of `passes/flow/` when the first code with
control flow is decompiled. So a new pass is one file there, and its cases. `ordered` derives the order from the stages
and the reasons, and refuses reasons that contradict each other.
"""

from __future__ import annotations

import enum
import heapq
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from operator import attrgetter
from types import MappingProxyType
from typing import Any, TypeVar

from depyf.bytecode.records import dataclass
from depyf.decompiler.passes.conditions import Settings, always
from depyf.decompiler.passes.groups import NOTHING

Reasons = tuple[tuple[str, str], ...]
"""Names of passes, with the reasons why they run before or after another one."""
NO_REASONS: Mapping[str, str] = MappingProxyType({})
Change = TypeVar("Change", bound=Callable[..., Any])
WRITTEN = "as-written"
"""The pass that chooses the source form, which others ask whether it is left out."""
FLOWING = "depyf.decompiler.passes.flow"
LAZY = (FLOWING, "depyf.decompiler.pipeline.flow")
"""Where the passes are that only code with control flow needs."""


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


STAGES = list(Stage)


@dataclass(frozen=True, slots=True)
class Pass:
    """One step of the pipeline.

    name: its name for `--stop-after` and `--without`.
    run: changes the work on one code object.
    does: one line for the reader of a trace.
    optional: without it the result is correct, but uglier.
    applies: whether it may apply to this work; it reads only `known`, `choices` and `without`.
    needs: operations; without any of them the pass has nothing to do.
    unless: operations; if one of them is present, the pass would destroy the form that a later pass recognises.
    after, before: the names of passes that run earlier or later, with the reasons.
    defined: the module and line of its definition, which decide where no reason does.
    """

    name: str
    stage: Stage
    run: Callable[[Any], None]
    does: str
    optional: bool = False
    applies: Callable[[Settings], bool] = always
    needs: frozenset[str] = NOTHING
    unless: frozenset[str] = NOTHING
    after: Reasons = ()
    before: Reasons = ()
    defined: tuple[str, int] = ("", 0)

    @property
    def is_eager(self) -> bool:
        """Whether code without control flow may need the pass."""
        return not self.defined[0].startswith(LAZY)


REGISTERED: dict[str, Pass] = {}
"""The passes whose modules have been imported, by name."""


class Misordered(AssertionError):
    """The passes contradict each other."""


def registers(
    name: str,
    stage: Stage,
    does: str,
    *,
    takes: tuple[str, ...] = (),
    gives: str = "",
    optional: bool = False,
    applies: Callable[[Settings], bool] = always,
    needs: frozenset[str] = NOTHING,
    unless: frozenset[str] = NOTHING,
    after: Mapping[str, str] = NO_REASONS,
    before: Mapping[str, str] = NO_REASONS,
) -> Callable[[Change], Change]:
    """Register the decorated function as a pass.

    Args:
        name: The name of the pass.
        stage: The form that it works on.
        does: One line for the reader of a trace.
        takes: The fields of the work that the function gets, such as `body.stmts`, or `negates=graph.negates` for an
            argument by name. Without fields it gets the whole work.
        gives: The field that becomes what the function returns, if that is not None; by default the first it takes.
        optional: Whether the result is correct without it.
        applies: Whether it may apply to a work.
        needs: Operations; without any of them the pass has nothing to do.
        unless: Operations; if one of them is present, the pass does not run.
        after: The names of passes that run earlier, with the reasons.
        before: The names of passes that run later, with the reasons.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        Misordered: Another pass has the name.
    """

    def register(change: Change) -> Change:
        defined = change.__module__, change.__code__.co_firstlineno
        known = REGISTERED.get(name)
        if known is not None and known.defined[0] != defined[0]:
            raise Misordered(f"two passes have the name {name}: in {known.defined[0]} and in {defined[0]}")
        run = _on_fields(change, takes, gives) if takes else change
        REGISTERED[name] = Pass(
            name,
            stage,
            run,
            does,
            optional,
            applies,
            needs,
            unless,
            tuple(after.items()),
            tuple(before.items()),
            defined,
        )
        return change

    return register


def _on_fields(change: Callable[..., Any], takes: tuple[str, ...], gives: str) -> Callable[[Any], None]:
    """Return a function that calls another one with fields of the work, and stores what it returns."""
    positional = [path for path in takes if "=" not in path]
    named = [(path.partition("=")[0], attrgetter(path.partition("=")[2])) for path in takes if "=" in path]
    owner, _, last = (gives or takes[0]).rpartition(".")
    fields = attrgetter(*positional)

    def store(work: object, result: object) -> None:
        setattr(attrgetter(owner)(work) if owner else work, last, result)

    def run_on_one(work: object) -> None:
        result = change(fields(work))
        if result is not None:
            store(work, result)

    def run_on_several(work: object) -> None:
        result = change(*fields(work))
        if result is not None:
            store(work, result)

    def run_by_name(work: object) -> None:
        values = fields(work) if len(positional) > 1 else (fields(work),)
        result = change(*values, **{name: getter(work) for name, getter in named})
        if result is not None:
            store(work, result)

    return run_by_name if named else run_on_one if len(positional) == 1 else run_on_several


def load(package: str) -> None:
    """Import the modules of a package, whose passes register themselves; those for control flow wait."""
    packages = [package]
    for name in packages:  # The list grows during the iteration.
        for module in pkgutil.iter_modules(import_module(name).__path__):
            path = f"{name}.{module.name}"
            if not module.ispkg:
                import_module(path)
            elif path != FLOWING:
                packages.append(path)


def load_flow() -> None:
    """Import the passes that only control flow needs, which register themselves."""
    load(FLOWING)
    import_module(LAZY[-1])


def ordered(passes: Iterable[Pass]) -> tuple[Pass, ...]:
    """Return passes in the order in which they run.

    Raises:
        Misordered: A reason names no pass, contradicts the stages, or closes a circle of reasons.
    """
    known = {entry.name: entry for entry in passes}
    later: dict[str, set[str]] = {name: set() for name in known}
    for first, then, _ in reasons(known.values()):
        if first not in known or then not in known:
            continue
        if STAGES.index(known[first].stage) > STAGES.index(known[then].stage):
            raise Misordered(f"{then} works on {known[then].stage.value}, which {first} has already left")
        later[first].add(then)
    waiting = {name: sum(name in others for others in later.values()) for name in known}
    ready = [_key(known[name]) for name, count in waiting.items() if not count]
    heapq.heapify(ready)
    ordered_passes: list[Pass] = []
    while ready:
        name = heapq.heappop(ready)[-1]
        ordered_passes.append(known[name])
        for other in later[name]:
            waiting[other] -= 1
            if not waiting[other]:
                heapq.heappush(ready, _key(known[other]))
    if len(ordered_passes) < len(known):
        circle = sorted(set(known).difference(entry.name for entry in ordered_passes))
        raise Misordered(f"these passes run before each other: {', '.join(circle)}")
    return tuple(ordered_passes)


def _key(entry: Pass) -> tuple[int, tuple[str, int], str]:
    return STAGES.index(entry.stage), entry.defined, entry.name


def reasons(passes: Iterable[Pass]) -> list[tuple[str, str, str]]:
    """Return which pass runs before which, and why."""
    pairs = []
    for entry in passes:
        pairs += [(first, entry.name, because) for first, because in entry.after]
        pairs += [(entry.name, then, because) for then, because in entry.before]
    return pairs
