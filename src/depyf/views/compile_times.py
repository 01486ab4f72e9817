"""Compile times as a table: the user's functions and lines x the stages of the compiler."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from depyf.bytecode.records import dataclass
from depyf.model.compile_times import REST, CompileTimes, times_json

MOST_FUNCTIONS, MOST_LINES, MOST_MODULES, MOST_STAGES, MOST_WAITS = 10, 4, 5, 4, 12
LEAST_SHARE = 0.005
"""Rows below this share of the time are left out."""

Json = Mapping[str, Any]


def compile_times_text(times: CompileTimes, label: str = "") -> list[str]:
    """Return the lines for the end of a run; `label` names its process."""
    first, *others = table(times_json(times))
    return [f"depyf: compile times{label}: {first}", *others]


def table(times: Json) -> list[str]:
    """Return the table of a `compile_times.json`."""
    whole = times["seconds"]
    unavailable = [f"  not measured: {name}: {why}" for name, why in times["unavailable"].items()]
    if not whole:
        return ["nothing was compiled", *unavailable]
    rest = times["stages"].get(REST, 0.0)
    measuring = times["measuring"]
    head = f"{_time(whole)}, of which {_time(rest)} ({100 * rest / whole:.1f} %) could not be attributed; "
    lines = [head + f"measuring took about {_time(measuring['seconds'])} ({measuring['readings']} readings)"]
    lines.append("  by stage:")
    lines += [_row(seconds, whole, stage) for stage, seconds in times["stages"].items() if seconds >= whole / 1000]
    lines.append("  by function, without the calls in it:")
    lines += _functions(times)
    modules = [module for module in times["modules"] if sum(module["total"].values()) >= LEAST_SHARE * whole]
    if modules:
        lines.append("  by module, with its submodules:")
    for module in modules[:MOST_MODULES]:
        words = f"{module['module']} ({module['class']}): {_of(module['total'])}"
        lines.append(_row(sum(module["total"].values()), whole, words))
    lines += map(_repeated, times["repeats"])
    if "cold_start" in times:
        lines += _cold_start(times["cold_start"])
    return lines + unavailable


def _cold_start(start: Json) -> Iterator[str]:
    """Yield the parts of a cold start, which add up to it, then its compiles in the order of time."""
    whole = start["seconds"]
    yield f"  cold start: {_time(whole)} from the start of the process to the end of the last compile"
    if start["before"] is not None:
        yield _row(start["before"], whole, "before the program")
    imports = list(start["imports"].items())
    parts = [f"{name} {_time(seconds)}" for name, seconds in imports[:MOST_STAGES]]
    if len(imports) > MOST_STAGES:
        parts.append(f"others {_time(sum(seconds for _, seconds in imports[MOST_STAGES:]))}")
    yield _row(sum(start["imports"].values()), whole, f"imports: {', '.join(parts)}")
    yield _row(start["compiles"], whole, "compiles")
    early = f"of which {_time(start['early'])} before the first compile"
    yield _row(start["program"], whole, f"the program itself, {early}")
    waits = [wait for wait in start["waits"] if wait[1] >= LEAST_SHARE * whole and wait[2]]
    for at, seconds, compile_id, function in waits[:MOST_WAITS]:
        yield f"    after {_time(at)}: compile {compile_id}, {function}, {_time(seconds)}"
    if len(waits) > MOST_WAITS:
        yield f"    and {len(waits) - MOST_WAITS} more compiles, the last after {_time(waits[-1][0])}"
    if start["caches"]:
        yield f"  caches: {'; '.join(_cache(*pair) for pair in start['caches'].items())}"


def _cache(name: str, outcomes: Mapping[str, int]) -> str:
    return f"{name} {', '.join(f'{count} {outcome}' for outcome, count in outcomes.items())}"


@dataclass(frozen=True, slots=True)
class TimedRow:
    """A function without the calls in it, or some of its lines: what it is, its seconds, and those of its stages."""

    label: str
    place: str
    seconds: float
    share: float
    stages: str
    is_line: bool


def timed_rows(times: Json) -> list[TimedRow]:
    """Return the functions of a `compile_times.json` with their lines, the largest exclusive time first."""
    whole = times["seconds"]
    rows = []
    for function in times["functions"]:
        exclusive, total = sum(function["own"].values()), sum(function["total"].values())
        if exclusive < LEAST_SHARE * whole:
            continue
        traced = f", traced {function['traced']} times" if function["traced"] > 1 else ""
        inside = f", {_time(total)} with its calls" if total - exclusive >= LEAST_SHARE * whole else ""
        place = f"{function['file']}:{function['line']}" if function["line"] else function["file"]
        rows.append(
            TimedRow(function["function"], place, exclusive, exclusive / whole, f"{traced}{inside}"[2:], is_line=False)
        )
        for line in function["lines"][:MOST_LINES]:
            seconds = sum(line["stages"].values())
            if seconds >= LEAST_SHARE * whole:
                words = _of(line["stages"])
                rows.append(TimedRow(_lines(line["lines"]), place, seconds, seconds / whole, words, is_line=True))
    return rows


def _functions(times: Json) -> Iterator[str]:
    shown = 0
    for row in timed_rows(times):
        shown += not row.is_line
        if shown > MOST_FUNCTIONS:
            yield "  and more functions: depyf show --compile-times --json"
            return
        words = f"  {row.label}: {row.stages}" if row.is_line else f"{row.label}  {row.place}"
        more = f", {row.stages}" if row.stages and not row.is_line else ""
        yield _row(row.seconds, times["seconds"], words + more)


def _repeated(repeat: Json) -> str:
    blocks = f"{repeat['first']} to {repeat['last']}" + (f" ({repeat['class']})" if repeat["class"] else "")
    spent = f"{_time(repeat['seconds'])} of {_time(repeat['whole'])}, of which {_time(repeat['again'])} after the first"
    return f"  equal graphs, compiled {repeat['blocks']} times: {blocks}: {spent}"


def _lines(lines: Sequence[int]) -> str:
    if not lines:
        return "the graph as a whole"
    if len(lines) == 1:
        return f"line {lines[0]}"
    return f"lines {', '.join(map(str, lines))}, computed together"


def _of(stages: Mapping[str, float]) -> str:
    return ", ".join(f"{stage} {_time(seconds)}" for stage, seconds in list(stages.items())[:MOST_STAGES])


def _row(seconds: float, whole: float, words: str) -> str:
    return f"  {_time(seconds):>8} {100 * seconds / whole:5.1f} %  {words}"


def _time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 10 else f"{seconds:.2f} s" if seconds >= 1 else f"{1e3 * seconds:.0f} ms"
