"""The time of compiling, split into cells: the user's place x the stage of the compiler.

Cells are exclusive. The time of an inlined call belongs to the call, which lies below the line of its caller. The
seconds of all cells add up to the time that the program waited for compiles.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, TypeAlias

from depyf.bytecode.records import dataclass
from depyf.model.cold_start import ColdStart, cold_start_json, read_cold_start
from depyf.model.repeats import Repeat
from depyf.model.writer import write_whole

FILE = "compile_times.json"
SCHEMA = 1

OWN = "depyf"
"""The stage of depyf's own work during a compile."""
REST = "not attributed"
"""The stage of time that belongs to no known step of the compiler."""
IMPORTS, COLLECTOR = "imports", "garbage collection"
OF_PROCESS = frozenset({OWN, REST, IMPORTS, COLLECTOR})
"""The stages whose time depends on the process and not on the function that is compiled."""

FunctionKey: TypeAlias = tuple[str, int, str]
"""The file, the first line (0 if unknown) and the qualified name of a function."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the user's program.

    caller: the number of the place that called this function, or -1.
    lines: the lines of the function; several if one kernel computes all of them, none for the function as a whole.
    module: the path of the `torch.nn.Module` whose method this is, such as `layers.3`; "" if unknown.
    of_torch: whether the function belongs to torch itself.
    """

    caller: int
    file: str
    first_line: int
    function: str
    lines: tuple[int, ...] = ()
    module: str = ""
    module_class: str = ""
    of_torch: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """Seconds that one compile spent in one stage for one place. The id is "" for depyf's work after a compile."""

    compile: str
    place: int
    stage: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Repetition:
    """Equal blocks of one compile: their seconds, those without the first block, and those of the whole compile."""

    compile: str
    first: str
    last: str
    kind: str
    blocks: int
    seconds: float
    again: float
    whole: float


@dataclass(slots=True)
class CompileTimes:
    """The times of a process.

    traced: how often Dynamo traced each function.
    measured: the readings of the clock, and `cost`, their estimated seconds.
    unavailable: what this torch does not show, with reasons.
    start: the cold start of the process, if it was measured from its start.
    """

    places: list[Place] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    traced: dict[FunctionKey, int] = field(default_factory=dict)
    measured: int = 0
    cost: float = 0.0
    unavailable: dict[str, str] = field(default_factory=dict)
    repetitions: list[Repetition] = field(default_factory=list)
    start: ColdStart | None = None

    @property
    def seconds(self) -> float:
        """Return the time that the program waited for compiles."""
        return sum(cell.seconds for cell in self.cells)

    def by_stage(self) -> dict[str, float]:
        """Return the seconds of each stage, the longest first."""
        return _sorted(_summed((cell.stage, cell.seconds) for cell in self.cells))

    def by_compile(self) -> dict[str, dict[str, float]]:
        """Return the seconds of each stage of each compile."""
        found: dict[str, Counter[str]] = {}
        for each in (cell for cell in self.cells if cell.compile):
            found.setdefault(each.compile, Counter())[each.stage] += each.seconds  # type: ignore[assignment]
        return {name: _sorted(stages) for name, stages in found.items()}

    def own_place(self, place: int) -> int:
        """Return the innermost place of a call stack that is not in torch itself; the place, if all are."""
        found = place
        while found >= 0 and self.places[found].of_torch:
            found = self.places[found].caller
        return found if found >= 0 else place

    def callers(self, place: int) -> Iterator[int]:
        """Yield a place and its callers, innermost first."""
        while place >= 0:
            yield place
            place = self.places[place].caller


@dataclass(frozen=True, slots=True)
class FunctionTimes:
    """The times of a function: its own and those with the calls below it, by stage; its lines; how often it was traced.

    Stages of the process are left out.
    """

    key: FunctionKey
    own: Mapping[str, float]
    total: Mapping[str, float]
    lines: Mapping[tuple[int, ...], Mapping[str, float]]
    traced: int = 0

    @property
    def seconds(self) -> float:
        """Return the exclusive seconds of all stages."""
        return sum(self.own.values())


def function_times(times: CompileTimes) -> list[FunctionTimes]:
    """Return the times of each function, the largest exclusive time first.

    torch's functions count for their callers.
    """
    own: dict[FunctionKey, Counter[str]] = {}
    total: dict[FunctionKey, Counter[str]] = {}
    lines: dict[FunctionKey, dict[tuple[int, ...], Counter[str]]] = {}
    for cell in times.cells:
        if cell.stage in OF_PROCESS:
            continue
        innermost = times.places[times.own_place(cell.place)]
        key = key_of(innermost)
        _add(own.setdefault(key, Counter()), cell)
        _add(lines.setdefault(key, {}).setdefault(innermost.lines, Counter()), cell)
        for caller in dict.fromkeys(key_of(times.places[each]) for each in times.callers(times.own_place(cell.place))):
            _add(total.setdefault(caller, Counter()), cell)
    found = [
        FunctionTimes(
            key,
            _sorted(own.get(key, {})),
            _sorted(total[key]),
            {line: _sorted(stages) for line, stages in sorted(lines.get(key, {}).items(), key=_largest)},
            times.traced.get(key, 0),
        )
        for key in total
    ]
    return sorted(found, key=lambda each: (-each.seconds, -sum(each.total.values())))


@dataclass(frozen=True, slots=True)
class ModuleTimes:
    """The times of one `torch.nn.Module` with its submodules, by stage."""

    path: str
    kind: str
    total: Mapping[str, float]

    @property
    def seconds(self) -> float:
        """Return the seconds of all stages."""
        return sum(self.total.values())


def module_times(times: CompileTimes) -> list[ModuleTimes]:
    """Return the times of each module, the longest first. A module includes its submodules."""
    totals: dict[str, Counter[str]] = {}
    kinds: dict[str, str] = {}
    for cell in times.cells:
        if cell.stage in OF_PROCESS:
            continue
        found = [times.places[caller] for caller in times.callers(cell.place)]
        kinds.update((each.module, each.module_class) for each in found if each.module)
        paths = {path for each in found for path in _enclosing(each.module)}
        for path in paths:
            _add(totals.setdefault(path, Counter()), cell)
    rows = [ModuleTimes(path, kinds[path], _sorted(stages)) for path, stages in totals.items() if path in kinds]
    return sorted(rows, key=lambda each: (-each.seconds, each.path))


def repetition(times: CompileTimes, compile_id: str, repeat: Repeat) -> Repetition:
    """Return the times of equal blocks that have a path. A kernel that several blocks share counts for the first."""
    container, _, first = repeat.first.rpartition(".")
    numbers = range(int(first), int(first) + repeat.blocks) if first.isdecimal() else ()
    paths = {f"{container}.{number}" if container else str(number): number for number in numbers}
    whole = own = again = 0.0
    kind = ""
    for cell in times.cells:
        if cell.compile != compile_id:
            continue
        whole += cell.seconds
        found = [times.places[caller] for caller in times.callers(cell.place)]
        path = next((path for each in found for path in _enclosing(each.module) if path in paths), None)
        if path is not None and cell.stage not in OF_PROCESS:
            own += cell.seconds
            again += cell.seconds if path != repeat.first else 0.0
            kind = kind or next((each.module_class for each in found if each.module == path), "")
    return Repetition(compile_id, repeat.first, repeat.last, kind, repeat.blocks, own, again, whole)


def _enclosing(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition(".")[0]


def key_of(place: Place) -> FunctionKey:
    """Return the function of a place."""
    return place.file, place.first_line, place.function


def _add(counter: Counter[str], cell: Cell) -> None:
    counter[cell.stage] += cell.seconds  # type: ignore[assignment]


def _summed(pairs: Iterator[tuple[str, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, seconds in pairs:
        found[name] = found.get(name, 0.0) + seconds
    return found


def _sorted(seconds: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(seconds.items(), key=lambda pair: -pair[1]))


def _largest(row: tuple[tuple[int, ...], Mapping[str, float]]) -> float:
    return -sum(row[1].values())


def times_json(times: CompileTimes) -> dict[str, Any]:
    """Return the content of `compile_times.json`; `docs/compile_times.schema.json` describes it."""
    return {
        "schema": SCHEMA,
        "seconds": round(times.seconds, 6),
        "attributed": round(times.seconds - times.by_stage().get(REST, 0.0), 6),
        "measuring": {"readings": times.measured, "seconds": round(times.cost, 6)},
        "unavailable": times.unavailable,
        "stages": _rounded(times.by_stage()),
        "compiles": {name: _rounded(stages) for name, stages in times.by_compile().items()},
        "functions": [_function_json(function_time) for function_time in function_times(times)],
        "modules": [
            {"module": each.path, "class": each.kind, "total": _rounded(each.total)} for each in module_times(times)
        ],
        "repeats": [_repetition_json(each) for each in times.repetitions],
        "places": [_place_json(place) for place in times.places],
        "cells": [[cell.compile, cell.place, cell.stage, round(cell.seconds, 7)] for cell in times.cells],
        **({"cold_start": cold_start_json(times.start)} if times.start is not None else {}),
    }


def _function_json(each: FunctionTimes) -> dict[str, Any]:
    file, line, name = each.key
    return {
        "function": name,
        "file": file,
        "line": line,
        "traced": each.traced,
        "own": _rounded(each.own),
        "total": _rounded(each.total),
        "lines": [{"lines": list(line), "stages": _rounded(stages)} for line, stages in each.lines.items()],
    }


def _repetition_json(each: Repetition) -> dict[str, Any]:
    told = {"compile": each.compile, "first": each.first, "last": each.last, "class": each.kind, "blocks": each.blocks}
    return told | _rounded({"seconds": each.seconds, "again": each.again, "whole": each.whole})


def _place_json(place: Place) -> dict[str, Any]:
    told: dict[str, Any] = {"caller": place.caller, "file": place.file, "line": place.first_line}
    told |= {"function": place.function, "lines": list(place.lines)}
    if place.module:
        told |= {"module": place.module, "class": place.module_class}
    return told | ({"of_torch": True} if place.of_torch else {})


def _rounded(seconds: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 6) for name, value in seconds.items()}


def write_times(directory: Path, times: CompileTimes) -> None:
    """Write the times into a dump.

    Raises:
        OSError: the file cannot be written.
    """
    write_whole(directory / FILE, json.dumps(times_json(times)) + "\n")


def read_times(directory: Path) -> CompileTimes | None:
    """Return the times in a dump, or None if they were not measured.

    Raises:
        ValueError: the file is damaged.
    """
    path = directory / FILE
    if not path.is_file():
        return None
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return _times(told)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error


def _times(told: Mapping[str, Any]) -> CompileTimes:
    return CompileTimes(
        places=[_place(each) for each in told["places"]],
        cells=[Cell(*each) for each in told["cells"]],
        traced={(each["file"], each["line"], each["function"]): each["traced"] for each in told["functions"]},
        measured=told["measuring"]["readings"],
        cost=told["measuring"]["seconds"],
        unavailable=dict(told["unavailable"]),
        repetitions=[Repetition(*each.values()) for each in told["repeats"]],
        start=read_cold_start(told["cold_start"]) if "cold_start" in told else None,
    )


def _place(told: Mapping[str, Any]) -> Place:
    return Place(
        caller=told["caller"],
        file=told["file"],
        first_line=told["line"],
        function=told["function"],
        lines=tuple(told["lines"]),
        module=told.get("module", ""),
        module_class=told.get("class", ""),
        of_torch=told.get("of_torch", False),
    )


