"""A line of the user's, and kernels, as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from rich.console import RenderableType
from rich.text import Text

from depyf.model.counts import counted
from depyf.views.terminal.listing import Listing, commented, dedented
from depyf.views.terminal.pieces import INDENT, at, below, finding_text, seconds_text

Json: TypeAlias = dict[str, Any]

MOST_ROWS = 8
"""The most lines of one kernel or graph that are shown for a line; `--kernel` and `--graph` show all."""


def line_text(items: list[Json]) -> Iterator[RenderableType]:
    """Yield what became of a line: its compiles, with equal ones once, its findings and its times."""
    for item in items:
        where = item["where"]
        yield Text(at(where), "bold cyan").append(f"  {where['text']}", "default")
        facts = [f"in {where['function']}" if where["function"] else "", _state(item["state"])]
        yield below(Text("; ".join(fact for fact in facts if fact), "dim"), INDENT)
        yield from _times(item)
        for finding in item["findings"]:
            yield Text()
            yield from finding_text(finding, below_it=0)
        for same in _groups(item["compiles"]):
            yield Text()
            yield from _compile(*same)
        yield Text()


def _state(words: str) -> str:
    """Return the state of a line as a sentence.

    >>> _state("runs eagerly"), _state("never compiled"), _state("")
    ('it runs eagerly', 'it was never compiled', '')
    """
    return f"it {'was ' if words.startswith('never') else ''}{words}" if words else ""


def _groups(compiles: list[Json]) -> list[list[Json]]:
    """Return the compiles in groups with the same nodes and kernels."""
    groups: dict[str, list[Json]] = {}
    for compiled in compiles:
        graphs = [graph["lines"] for graph in compiled["graphs"]]
        kernels = [{key: value for key, value in kernel.items() if key != "file"} for kernel in compiled["kernels"]]
        groups.setdefault(repr((graphs, kernels)), []).append(compiled)
    return list(groups.values())


def _times(item: Json) -> Iterator[RenderableType]:
    """Yield the seconds of compiling and of a step that belong to the line, or how to measure them."""
    step, compiling = item["step_time"], item["compile_time"]
    if compiling is not None:
        calls = f", and {seconds_text(compiling['calls'])} in the functions that it calls" if compiling["calls"] else ""
        yield below(Text(f"compiling: {_parts(compiling)}{calls}, of {seconds_text(compiling['whole'])}"), INDENT)
    if step is not None:
        yield below(Text(f"in a step: {_parts(step)}, of {_short(step['whole'])}"), INDENT)
    options = [
        *(["`depyf run --compile-times` for its compile seconds"] if compiling is None else []),
        *(["`depyf run --profile` for its time in a step"] if step is None else []),
    ]
    if options:
        yield below(Text(f"not measured: {', '.join(options)}", "dim"), INDENT)


def _parts(times: Mapping[str, float]) -> str:
    together = f", and {_short(times['together'])} together with other lines" if times["together"] else ""
    return f"{_short(times['alone'])} alone{together}"


def _short(seconds: float) -> str:
    """Return a duration, with microseconds for short ones.

    >>> _short(0.0), _short(0.000012), _short(1.5)
    ('0 s', '12 us', '1.5 s')
    """
    if 0 < seconds < 0.001:
        return f"{1e6 * seconds:.0f} us"
    return seconds_text(seconds) or "0 s"


def _compile(first: Json, *others: Json) -> Iterator[RenderableType]:
    """Yield a compile with its nodes and kernels, and the compiles that have the same ones."""
    facts = [first["trigger"], seconds_text(first["seconds"])]
    facts += [counted(first["calls"], "call")] if first["calls"] is not None else []
    head = Text(f"compile {first['id']}", "bold").append(f" of {first['function']}", "default")
    yield head.append(f"  {', '.join(fact for fact in facts if fact)}", "dim")
    if others:
        ids, seconds = ", ".join(other["id"] for other in others), sum(other["seconds"] for other in others)
        same = f"the same in compile{'s' if len(others) > 1 else ''} {ids}"
        yield below(Text(f"{same}: {seconds_text(seconds) or '0 s'}", "dim"), INDENT)
    if not first["graphs"] and not first["kernels"]:
        yield below(Text("no node of a graph and no kernel comes from this line"), INDENT)
    for graph in first["graphs"]:
        yield below(Text(graph["stage"], "bold").append(f"  {graph['file']}", "dim"), INDENT)
        yield from _rows(graph["lines"], "python", f"--graph {first['id']}")
    for kernel in first["kernels"]:
        yield from _kernel(kernel)


def _kernel(kernel: Json) -> Iterator[RenderableType]:
    is_library = "." in kernel["kernel"]
    head = Text(f"{kernel['part']} kernel ".lstrip(), "bold").append(kernel["kernel"], "green")
    yield below(head.append(f"  {kernel['file']}:{kernel['line']}", "dim"), INDENT)
    if not kernel["linked"]:
        rows = "; these are linked to no line:" if kernel["lines"] else ""
        yield below(Text(f"depyf does not know which of its rows compute this line{rows}", "dim"), 2 * INDENT)
    language = "cpp" if kernel["kernel"].startswith("cpp_") else "python"
    yield from _rows(kernel["lines"], language, "" if is_library else f"--kernel {kernel['kernel']}")
    if kernel["with"]:
        others = ", ".join(map(_short_place, kernel["with"]))
        yield below(Text(f"it also computes {others}", "dim"), 2 * INDENT)


def _rows(lines: list[Json], language: str, option: str) -> Iterator[RenderableType]:
    rows = dedented((line["line"], line["text"]) for line in lines)
    yield Listing(rows[:MOST_ROWS], language)
    if len(rows) > MOST_ROWS:
        left = counted(len(rows) - MOST_ROWS, "more line")
        yield below(Text(f"{left}: {option or '--json'}", "dim"), 2 * INDENT)


def _short_place(place: str) -> str:
    """Return a place without the folders of its file.

    >>> _short_place("models/net.py:12")
    'net.py:12'
    """
    return place.rpartition("/")[2]


def kernel_text(items: list[Json]) -> Iterator[RenderableType]:
    """Yield the definition of a kernel with the user's lines as comments. Equal texts are shown once."""
    groups: dict[str, list[Json]] = {}
    for item in items:
        groups.setdefault(item["text"], []).append(item)
    for same in groups.values():
        item = same[0]
        ids = ", ".join(dict.fromkeys(other["id"] for other in same))
        yield (
            Text(item["kernel"], "bold")
            .append(f"  {_compiles(ids)} of {item['function']}", "default")
            .append(f"  {item['file']}", "dim")
        )
        is_cpp = item["kernel"].startswith("cpp_")
        comments = {
            number: "; ".join(f"{at(place)}  {place['text']}".rstrip() for place in origin["where"])
            for origin in item["origins"]
            for number in range(origin["first"], origin["last"] + 1)
        }
        rows = enumerate(item["text"].rstrip("\n").split("\n"), start=item["line"])
        yield Listing(commented(rows, comments, "//" if is_cpp else "#"), "cpp" if is_cpp else "python")
        yield Text()


def _compiles(ids: str) -> str:
    return f"compile{'s' if ',' in ids else ''} {ids}"
