"""Split the time of one thread into cells while it passes: each moment belongs to the innermost step that runs.

Steps come from torch's timeline events, which name the stage, and from a running torch, which names the user's place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from depyf.model.compile_times import REST, Cell, CompileTimes, Place
from depyf.trace.event_stages import BACKEND, OUTERMOST, stage_of

Spot: TypeAlias = tuple[str, "int | tuple[int, ...]", str, str, str]
"""A frame of the user's: file, line or lines, function, path and class of its module."""


class Node:
    """A place in the tree of calls. `spot` is None for a compiled function as a whole."""

    __slots__ = ("caller", "children", "spot")

    def __init__(self, caller: Node | None, spot: Spot | None) -> None:
        self.caller = caller
        self.spot = spot
        self.children: dict[Spot, Node] = {}

    def below(self, spot: Spot) -> Node:
        """Return the place that this one calls."""
        child = self.children.get(spot)
        if child is None:
            child = self.children[spot] = Node(self, spot)
        return child


class Step:
    """A step that is running: the event or the call it stands for, its stage, its place and its compile."""

    __slots__ = ("compile", "name", "place", "stage")

    def __init__(self, name: str, stage: str, place: Node, compile_id: str) -> None:
        self.name = name
        self.stage = stage
        self.place = place
        self.compile = compile_id


class Ledger:
    """The cells of one thread. `clock` returns nanoseconds.

    waits: when each outermost step began and ended, its compile, and its name.
    """

    def __init__(self, clock: Callable[[], int]) -> None:
        self.clock = clock
        self.cells: dict[tuple[str, Node, str], int] = {}
        self.steps: list[Step] = []
        self.root = Node(None, None)
        self.readings = 0
        self.waits: list[tuple[int, int, str, str]] = []
        self._since = 0
        self._began = 0
        self._times: dict[str, int] = {}

    def charge(self) -> None:
        """Charge the time since the last reading to the innermost step."""
        now = self.clock()
        self.readings += 1
        if self.steps:
            step = self.steps[-1]
            key = step.compile, step.place, step.stage
            self.cells[key] = self.cells.get(key, 0) + now - self._since
        self._since = now

    def enter(self, stage: str = "", place: Node | None = None) -> int:
        """Begin a step inside the running one; return what `leave` takes. It keeps the stage or place not given."""
        self.charge()
        depth = len(self.steps)
        last = self.steps[-1] if self.steps else Step("", REST, self.root, "")
        self._push(Step("", stage or last.stage, place or last.place, last.compile))
        return depth

    def leave(self, depth: int) -> None:
        """End a step, and the steps in it whose end was lost."""
        self.charge()
        if not depth:
            self._note_wait()
        del self.steps[depth:]

    def _push(self, step: Step) -> None:
        if not self.steps:
            self._began = self._since
        self.steps.append(step)

    def _note_wait(self) -> None:
        if self.steps:
            self.waits.append((self._began, self._since, self.steps[0].compile, self.steps[0].name))

    def move(self, place: Node) -> None:
        """Continue the innermost step at another place."""
        step = self.steps[-1]
        if step.place is not place:
            self.charge()
            step.place = place

    def event(self, event: Mapping[str, Any], own_id: Callable[[], str] = str) -> None:
        """Take the beginning or the end of one of torch's timeline events; `own_id` is asked if it has no compile."""
        name, phase = event.get("name"), event.get("ph")
        if not isinstance(name, str):
            return
        if phase == "B":
            arguments = event.get("args")
            named_id = arguments.get("compile_id") if isinstance(arguments, Mapping) else None
            self._begin(name, named_id if isinstance(named_id, str) and named_id != "None" else own_id())
        elif phase == "E":
            self._end(name)

    def _begin(self, name: str, compile_id: str) -> None:
        if not self.steps and name not in OUTERMOST and not compile_id:
            return  # A thread that works for a compile. Its time counts where the compile waits for it.
        self.charge()
        last = self.steps[-1] if self.steps else None
        step_id = last.compile if last is not None else ""
        if compile_id and compile_id != step_id.partition("#")[0]:
            step_id = self._counted(name, compile_id)
        stage = stage_of(name) or (last.stage if last is not None else REST)
        # The backend works on a whole graph, whichever line Dynamo read last.
        place = last.place if last is not None and stage != BACKEND else self.root
        self._push(Step(name, stage, place, step_id))

    def _counted(self, name: str, compile_id: str) -> str:
        """Return depyf's form of a compile id, which torch reuses after a reset: `0/0#2`."""
        if name == OUTERMOST[0] or (name in OUTERMOST[1:3] and not self.steps):
            self._times[compile_id] = self._times.get(compile_id, 0) + 1
        times = self._times.get(compile_id, 1)
        return f"{compile_id}#{times}" if times > 1 else compile_id

    def _end(self, name: str) -> None:
        """End an event, and the steps in it whose end was lost."""
        if not any(step.name == name for step in self.steps):
            return
        self.charge()
        outermost = next(at for at, step in reversed(list(enumerate(self.steps))) if step.name == name)
        if not outermost:
            self._note_wait()
        del self.steps[outermost:]


def collected(
    ledgers: Iterable[Ledger],
    resolve: Callable[[Spot], tuple[int, str, bool]],
    function_of: Callable[[str], Place | None],
) -> CompileTimes:
    """Return the cells of all threads.

    Args:
        ledgers: one for each thread.
        resolve: returns the first line and the qualified name of a spot's function, and whether it is torch's.
        function_of: returns the compiled function for a compile id, or None if it is unknown.
    """
    compile_times = CompileTimes()
    numbers: dict[Place, int] = {}

    def number(place: Place) -> int:
        if place not in numbers:
            numbers[place] = len(compile_times.places)
            compile_times.places.append(place)
        return numbers[place]

    def place_of(node: Node, compile_id: str) -> int:
        chain: list[Node] = []
        while node.spot is not None and node.caller is not None:
            chain.append(node)
            node = node.caller
        if not chain:
            return number(function_of(compile_id) or Place(-1, "", 0, "(outside compiled functions)"))
        caller = -1
        for link in reversed(chain):
            caller = number(_place(link.spot, caller, resolve))
        return caller

    sums: dict[tuple[str, int, str], int] = {}
    for ledger in ledgers:
        compile_times.measured += ledger.readings
        for (compile_id, node, stage), spent in ledger.cells.items():
            key = compile_id, place_of(node, compile_id), stage
            sums[key] = sums.get(key, 0) + spent
    compile_times.cells = [Cell(*key, spent / 1e9) for key, spent in sums.items() if spent]
    return compile_times


def _place(spot: Spot | None, caller: int, resolve: Callable[[Spot], tuple[int, str, bool]]) -> Place:
    assert spot is not None, "only the root of a tree has no spot"
    file, lines, _, module, kind = spot
    first, name, of_torch = resolve(spot)
    return Place(caller, file, first, name, (lines,) if isinstance(lines, int) else lines, module, kind, of_torch)
