"""Compile times: for each compile the seconds of each phase, and the results of its cache lookups."""

from __future__ import annotations

from collections.abc import Mapping

from depyf.bytecode.records import dataclass
from depyf.model.index_reader import Run
from depyf.model.naming import title
from depyf.model.phases import PHASES, duration, phases
from depyf.model.run import Compile
from depyf.views.html.function_data import entry_key


@dataclass(frozen=True, slots=True)
class TimeRow:
    """A compile, or all compiles of a function: the seconds of each of `PHASES`, and the total."""

    label: str
    address: str
    seconds: tuple[float, ...]
    total: float
    caches: str
    is_sum: bool


def time_rows(run: Run, addresses: Mapping[str, str]) -> list[TimeRow]:
    """Return the compiles of each function below their sum; the slowest function comes first."""
    rows: list[list[TimeRow]] = []
    for key, family in run.families().items():
        timed = [one for _, one in family if duration(one.seconds)]
        if not timed:
            continue
        own = [_row(one, f"{addresses[key]}/{entry_key(one)}") for one in timed]
        sums = tuple(sum(column) for column in zip(*(each.seconds for each in own), strict=True))
        caches = own[0].caches if len(own) == 1 else ""
        head = TimeRow(title(run.session.functions[key]), addresses[key], sums, sum(sums), caches, is_sum=True)
        rows.append([head, *(own if len(own) > 1 else ())])
    return [row for each in sorted(rows, key=lambda each: -each[0].total) for row in each]


def _row(compiled: Compile, address: str) -> TimeRow:
    parts = phases(compiled.seconds)
    caches = ", ".join(f"{cache.cache} {cache.outcome}" for cache in compiled.caches)
    seconds = tuple(parts.get(name, 0.0) for name in PHASES)
    return TimeRow(str(compiled.id), address, seconds, duration(compiled.seconds), caches, is_sum=False)
