"""Align two runs that were recorded with `--bits`: their modules, the inputs of these, and the results of launches.

Both runs may fuse differently, run on other machines, and have other file paths. So modules are aligned by the user's
lines that they compute, and results by the nodes and lines from which they come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import field
from pathlib import PurePath
from typing import TypeAlias, TypeVar

from depyf.bytecode.records import dataclass
from depyf.model.bits_log import BitsLog, ModuleRow, ResultRow

Line: TypeAlias = tuple[str, str, str]
"""A line of the user's, the same on another machine: the file's name, the function, and the text."""
Spot: TypeAlias = tuple[int, int]
"""A result of a module: the position of its launch, and its position among the results of the launch."""

_Key = TypeVar("_Key")
_Place = TypeVar("_Place")


@dataclass(slots=True)
class Pair:
    """Two modules that compute the same: `inputs` and `results` lead from the first to the second."""

    ours: ModuleRow
    theirs: ModuleRow
    inputs: dict[int, int] = field(default_factory=dict)
    results: dict[Spot, Spot] = field(default_factory=dict)


def aligned(ours: BitsLog, theirs: BitsLog) -> list[Pair]:
    """Return the pairs of modules, in the order of the first run."""
    free = dict(theirs.modules)
    pairs = []
    for module in ours.modules.values():
        partner = _partner(module, list(free.values()))
        if partner is not None:
            del free[partner.number]
            inputs = dict(_matched(_numbered(module.inputs), _numbered(partner.inputs)))
            pairs.append(Pair(module, partner, inputs, _results(module, partner)))
    return pairs


def _partner(module: ModuleRow, candidates: Iterable[ModuleRow]) -> ModuleRow | None:
    """Return the module of the other run that shares most lines; of several, one with the same compile id."""
    lines = Counter(_lines(module))
    best: tuple[tuple[float, bool, int], ModuleRow] | None = None
    for candidate in candidates:
        others = Counter(_lines(candidate))
        shared = sum((lines & others).values()) / max(sum((lines | others).values()), 1)
        is_same_compile = (candidate.compile_id, candidate.function) == (module.compile_id, module.function)
        is_alike = candidate.part == module.part and (shared > 0 or (is_same_compile and not (lines or others)))
        rank = (shared, is_same_compile, -candidate.number)
        if is_alike and (best is None or rank > best[0]):
            best = (rank, candidate)
    return best[1] if best is not None else None


def _lines(module: ModuleRow) -> Iterator[Line]:
    for launch in module.launches:
        yield from (line_of(result) for result in launch.results if result.where is not None)


def line_of(result: ResultRow) -> Line:
    """Return the user's line of a result without the folder of its file."""
    where = result.where
    return ("", "", "") if where is None else (PurePath(where.filename).name, where.function, where.text)


def _results(ours: ModuleRow, theirs: ModuleRow) -> dict[Spot, Spot]:
    """Return the results that are the same in two modules.

    First those of the same node and line, then those of the same captured node and line, counted in order. A result of
    no known node is aligned only in a kernel with the same code.
    """
    left, right = dict(_spots(ours)), dict(_spots(theirs))
    matched: dict[Spot, Spot] = {}
    for key in (_by_node, _by_origin, _by_code):
        mine = ((spot, key(ours, spot, row)) for spot, row in left.items() if spot not in matched)
        other = ((spot, key(theirs, spot, row)) for spot, row in right.items() if spot not in matched.values())
        matched.update(_matched(_keyed(mine), _keyed(other)))
    return matched


def _spots(module: ModuleRow) -> Iterator[tuple[Spot, ResultRow]]:
    for position, launch in enumerate(module.launches):
        yield from (((position, index), result) for index, result in enumerate(launch.results))


def _by_node(_: ModuleRow, __: Spot, row: ResultRow) -> tuple[object, ...] | None:
    return (row.node, line_of(row)) if row.node else None


def _by_origin(_: ModuleRow, __: Spot, row: ResultRow) -> tuple[object, ...] | None:
    return (row.origin, line_of(row)) if row.origin and row.where is not None else None


def _by_code(module: ModuleRow, spot: Spot, row: ResultRow) -> tuple[object, ...] | None:
    launch = module.launches[spot[0]]
    return (launch.text, row.parameter) if launch.text and not row.node else None


def _keyed(pairs: Iterable[tuple[Spot, tuple[object, ...] | None]]) -> dict[tuple[object, ...], Spot]:
    """Return the places by key and the number of earlier places with that key."""
    counts: Counter[tuple[object, ...]] = Counter()
    places = {}
    for spot, key in pairs:
        if key is not None:
            counts[key] += 1
            places[(*key, counts[key])] = spot
    return places


def _numbered(names: Iterable[str]) -> dict[tuple[str, int], int]:
    counts: Counter[str] = Counter()
    places = {}
    for place, name in enumerate(names):
        counts[name] += 1
        places[name, counts[name]] = place
    return places


def _matched(ours: dict[_Key, _Place], theirs: dict[_Key, _Place]) -> Iterator[tuple[_Place, _Place]]:
    yield from ((place, theirs[key]) for key, place in ours.items() if key in theirs)
