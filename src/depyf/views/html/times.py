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
        timed = [compiled for _, compiled in family if duration(compiled.seconds)]
        if not timed:
            continue
        compile_rows = [_row(compiled, f"{addresses[key]}/{entry_key(compiled)}") for compiled in timed]
        sums = tuple(sum(column) for column in zip(*(row.seconds for row in compile_rows), strict=True))
        caches = compile_rows[0].caches if len(compile_rows) == 1 else ""
        head = TimeRow(title(run.session.functions[key]), addresses[key], sums, sum(sums), caches, is_sum=True)
        rows.append([head, *(compile_rows if len(compile_rows) > 1 else ())])
    return [
        row
        for function_rows in sorted(rows, key=lambda function_rows: -function_rows[0].total)
        for row in function_rows
    ]


def _row(compiled: Compile, address: str) -> TimeRow:
    parts = phases(compiled.seconds)
    caches = ", ".join(f"{cache.cache} {cache.outcome}" for cache in compiled.caches)
    seconds = tuple(parts.get(name, 0.0) for name in PHASES)
    return TimeRow(str(compiled.id), address, seconds, duration(compiled.seconds), caches, is_sum=False)
