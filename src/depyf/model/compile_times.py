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
        by_compile: dict[str, Counter[str]] = {}
        for cell in (cell for cell in self.cells if cell.compile):
            by_compile.setdefault(cell.compile, Counter())[cell.stage] += cell.seconds  # type: ignore[assignment]
        return {name: _sorted(stages) for name, stages in by_compile.items()}

    def own_place(self, place: int) -> int:
        """Return the innermost place of a call stack that is not in torch itself; the place, if all are."""
        innermost = place
        while innermost >= 0 and self.places[innermost].of_torch:
            innermost = self.places[innermost].caller
        return innermost if innermost >= 0 else place

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
    exclusive: Mapping[str, float]
    total: Mapping[str, float]
    lines: Mapping[tuple[int, ...], Mapping[str, float]]
    traced: int = 0

    @property
    def seconds(self) -> float:
        """Return the exclusive seconds of all stages."""
        return sum(self.exclusive.values())


def function_times(times: CompileTimes) -> list[FunctionTimes]:
    """Return the times of each function, the largest exclusive time first.

    torch's functions count for their callers.
    """
    exclusive: dict[FunctionKey, Counter[str]] = {}
    total: dict[FunctionKey, Counter[str]] = {}
    lines: dict[FunctionKey, dict[tuple[int, ...], Counter[str]]] = {}
    for cell in times.cells:
        if cell.stage in OF_PROCESS:
            continue
        innermost = times.places[times.own_place(cell.place)]
        key = key_of(innermost)
        _add(exclusive.setdefault(key, Counter()), cell)
        _add(lines.setdefault(key, {}).setdefault(innermost.lines, Counter()), cell)
        for caller in dict.fromkeys(
            key_of(times.places[caller]) for caller in times.callers(times.own_place(cell.place))
        ):
            _add(total.setdefault(caller, Counter()), cell)
    all_functions = [
        FunctionTimes(
            key,
            _sorted(exclusive.get(key, {})),
            _sorted(total[key]),
            {line: _sorted(stages) for line, stages in sorted(lines.get(key, {}).items(), key=_largest)},
            times.traced.get(key, 0),
        )
        for key in total
    ]
    return sorted(all_functions, key=lambda function: (-function.seconds, -sum(function.total.values())))


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
        places = [times.places[caller] for caller in times.callers(cell.place)]
        kinds.update((place.module, place.module_class) for place in places if place.module)
        paths = {path for place in places for path in _enclosing(place.module)}
        for path in paths:
            _add(totals.setdefault(path, Counter()), cell)
    rows = [ModuleTimes(path, kinds[path], _sorted(stages)) for path, stages in totals.items() if path in kinds]
    return sorted(rows, key=lambda module: (-module.seconds, module.path))


def repetition(times: CompileTimes, compile_id: str, repeat: Repeat) -> Repetition:
    """Return the times of equal blocks that have a path. A kernel that several blocks share counts for the first.

    Args:
        times: the compile times of the run.
        compile_id: the id of the compile.
        repeat: the blocks, with the path of the first module.
    """
    container, _, first = repeat.first.rpartition(".")
    numbers = range(int(first), int(first) + repeat.blocks) if first.isdecimal() else ()
    paths = {f"{container}.{number}" if container else str(number): number for number in numbers}
    whole = in_blocks = again = 0.0
    kind = ""
    for cell in times.cells:
        if cell.compile != compile_id:
            continue
        whole += cell.seconds
        places = [times.places[caller] for caller in times.callers(cell.place)]
        path = next((path for place in places for path in _enclosing(place.module) if path in paths), None)
        if path is not None and cell.stage not in OF_PROCESS:
            in_blocks += cell.seconds
            again += cell.seconds if path != repeat.first else 0.0
            kind = kind or next((place.module_class for place in places if place.module == path), "")
    return Repetition(compile_id, repeat.first, repeat.last, kind, repeat.blocks, in_blocks, again, whole)


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
    totals: dict[str, float] = {}
    for name, seconds in pairs:
        totals[name] = totals.get(name, 0.0) + seconds
    return totals


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
            {"module": module.path, "class": module.kind, "total": _rounded(module.total)}
            for module in module_times(times)
        ],
        "repeats": [_repetition_json(repeat) for repeat in times.repetitions],
        "places": [_place_json(place) for place in times.places],
        "cells": [[cell.compile, cell.place, cell.stage, round(cell.seconds, 7)] for cell in times.cells],
        **({"cold_start": cold_start_json(times.start)} if times.start is not None else {}),
    }


def _function_json(function: FunctionTimes) -> dict[str, Any]:
    file, line, name = function.key
    return {
        "function": name,
        "file": file,
        "line": line,
        "traced": function.traced,
        "own": _rounded(function.exclusive),
        "total": _rounded(function.total),
        "lines": [{"lines": list(line), "stages": _rounded(stages)} for line, stages in function.lines.items()],
    }


def _repetition_json(repeat: Repetition) -> dict[str, Any]:
    fields = {
        "compile": repeat.compile,
        "first": repeat.first,
        "last": repeat.last,
        "class": repeat.kind,
        "blocks": repeat.blocks,
    }
    return fields | _rounded({"seconds": repeat.seconds, "again": repeat.again, "whole": repeat.whole})


def _place_json(place: Place) -> dict[str, Any]:
    fields: dict[str, Any] = {"caller": place.caller, "file": place.file, "line": place.first_line}
    fields |= {"function": place.function, "lines": list(place.lines)}
    if place.module:
        fields |= {"module": place.module, "class": place.module_class}
    return fields | ({"of_torch": True} if place.of_torch else {})


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
        stored = json.loads(path.read_text(encoding="utf-8"))
        return _times(stored)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error


def _times(stored: Mapping[str, Any]) -> CompileTimes:
    return CompileTimes(
        places=[_place(place) for place in stored["places"]],
        cells=[Cell(*cell) for cell in stored["cells"]],
        traced={
            (function["file"], function["line"], function["function"]): function["traced"]
            for function in stored["functions"]
        },
        measured=stored["measuring"]["readings"],
        cost=stored["measuring"]["seconds"],
        unavailable=dict(stored["unavailable"]),
        repetitions=[Repetition(*repeat.values()) for repeat in stored["repeats"]],
        start=read_cold_start(stored["cold_start"]) if "cold_start" in stored else None,
    )


def _place(stored: Mapping[str, Any]) -> Place:
    return Place(
        caller=stored["caller"],
        file=stored["file"],
        first_line=stored["line"],
        function=stored["function"],
        lines=tuple(stored["lines"]),
        module=stored.get("module", ""),
        module_class=stored.get("class", ""),
        of_torch=stored.get("of_torch", False),
    )


