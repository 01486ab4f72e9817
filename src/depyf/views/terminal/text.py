"""A view of a run as text for a terminal, fitted to its width."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from rich.console import Group, RenderableType
from rich.syntax import Syntax
from rich.text import Text

from depyf.model.counts import counted
from depyf.views.compile_times import table
from depyf.views.folds import folds
from depyf.views.terminal.line_text import kernel_text, line_text
from depyf.views.terminal.pieces import INDENT, at, below, finding_text, seconds_text
from depyf.views.terminal.whole_words import Paragraph, Rows

Json: TypeAlias = dict[str, Any]


def rendered(view: str, items: list[Json]) -> RenderableType:
    """Return a view's items as text, or a message that there are none."""
    if not items:
        return Text(EMPTY.get(view, "there is nothing with that name; `depyf show DUMP` lists the names"), style="dim")
    return Group(
        *(
            Paragraph(renderable) if isinstance(renderable, Text) else renderable
            for renderable in RENDERERS[view](items)
        )
    )


MORE = "\nmore: --line FILE:LINE (its nodes and kernels), --costs, --recompiles, --breaks"
"""The views that a reader needs next, below the list of compiles."""

EMPTY = {
    "overview": "nothing was compiled",
    "findings": "no findings",
    "breaks": "no graph broke, and no frame of yours runs eagerly",
    "recompiles": "nothing was recompiled",
    "caches": "torch recorded no lookup in a cache",
    "costs": "nothing was compiled",
    "compile_times": "compile times were not measured: depyf run --compile-times",
}


def _overview(items: list[Json]) -> Iterator[RenderableType]:
    table = Rows(("compile", "function", "why", "ops", "guards", "breaks", "calls", "seconds"), right=5)
    for item in items:
        failed = f" · {item['failed']}" if item["failed"] else ""
        place = Text(item["function"]).append(f"  {at(item['where'])}", "dim")
        numbers = [_number(item[name]) for name in ("operations", "guards", "breaks", "calls")]
        style = "red" if failed else "cyan" if item["trigger"] == "recompile" else ""
        table.add(item["id"], place, Text(item["trigger"] + failed, style), *numbers, seconds_text(item["seconds"]))
    yield table
    yield Text(MORE, "dim")


def _findings(items: list[Json]) -> Iterator[RenderableType]:
    for item in items:
        yield from finding_text(item)


def _breaks(items: list[Json]) -> Iterator[RenderableType]:
    for item in items:
        yield Text("// ", "yellow").append(item["reason"], "bold").append(f" {item['code']}", "dim")
        if item["where"]:
            where = Text(at(item["where"]), "cyan").append(f"  {item['where']['text']}", "default")
            yield below(where, INDENT)
        if item["explanation"]:
            yield below(Text(item["explanation"]), INDENT)
        for hint in item["hints"]:
            yield below(Text("hint: ", "green").append(hint, "default"), INDENT)
        compiles = f"in compile {', '.join(item['compiles'])}" if item["compiles"] else ""
        yield below(Text(compiles, "dim"), INDENT, 1 if compiles else 0)


def _recompiles(items: list[Json]) -> Iterator[RenderableType]:
    """Yield each recompile: why the nearest entry refused the call, and the finding, whose words are shown once."""
    shown: dict[str, str] = {}
    for item in items:
        head = Text(f"{item['id']} ", "bold").append(item["function"], "bold").append(f"  {at(item['where'])}", "cyan")
        yield head.append(f"  {seconds_text(item['seconds'])}", "dim")
        nearest = item["nearest"]
        for reason in nearest["reasons"] if nearest is not None else ():
            yield below(Text(f"{nearest['entry']} refused: ", "dim").append(reason["text"], "default"), INDENT)
            if reason["advice"] and item["finding"] is None:
                yield below(Text("fix: ", "green").append(reason["advice"], "default"), 2 * INDENT)
        others = len(item["refused"]) - 1
        if others > 0:
            yield below(Text(f"{counted(others, 'other entry', 'other entries')} refused more: --json", "dim"), INDENT)
        if nearest is None:
            yield below(Text("torch does not say why", "dim"), INDENT)
        if item["finding"] is not None:
            yield from _finding(item["finding"], item["id"], shown)
        yield Text()


def _finding(finding: Json, compile_id: str, shown: dict[str, str]) -> Iterator[RenderableType]:
    """Yield the finding about a recompile, or the first recompile of the same finding in `shown`."""
    first = shown.setdefault(finding["cause"], compile_id)
    if first != compile_id:
        yield below(Text(f"finding: the same as of {first}", "dim"), INDENT)
        return
    yield below(Text("finding: ", "dim").append(finding["cause"], "default"), INDENT)
    if finding["fix"]:
        yield below(Text("fix: ", "green").append(finding["fix"], "default"), INDENT)


def _costs(items: list[Json]) -> Iterator[RenderableType]:
    table = Rows(("compile", "function", "of which", "seconds", "calls"), right=2)
    for item in items:
        place = Text(item["function"]).append(f"  {at(item['where'])}", "dim")
        table.add(item["id"], place, _phases(item["phases"]), seconds_text(item["seconds"]), _number(item["calls"]))
    total = sum(item["seconds"] for item in items)
    yield table
    phases: dict[str, float] = {}
    for item in items:
        for name, seconds in item["phases"].items():
            phases[name] = phases.get(name, 0.0) + seconds
    yield Text(f"{counted(len(items), 'compile')}: {seconds_text(total) or '0 s'} in all", "bold")
    yield below(Text(_phases(phases)), INDENT)


def _phases(phases: Mapping[str, float]) -> str:
    """Return the time of each phase, the longest first."""
    parts = sorted(phases.items(), key=lambda part: -part[1])
    return ", ".join(f"{name} {seconds_text(seconds)}" for name, seconds in parts)


def _compile_times(items: list[Json]) -> Iterator[RenderableType]:
    for item in items:
        yield Text("\n".join(table(item)))


def _functions(items: list[Json]) -> Iterator[RenderableType]:
    for item in items:
        yield (
            Text(item["function"], "bold").append(f"  {at(item['where'])}", "cyan").append(f"  {item['file']}", "dim")
        )
        yield _code(item["source"], item["where"]["line"])
        for compiled in item["compiles"]:
            level = f", proven {compiled['level']}" if compiled["level"] else ""
            backend = f", backend {compiled['backend']}" if compiled["backend"] else ""
            yield Text(f"\n{compiled['id']}: {compiled['trigger']}{backend}{level}", "bold")
            if compiled["transformed"]:
                yield from _folded_code(compiled["transformed"])
            else:
                yield Text(compiled["unavailable"], "dim")
            yield from _listed("guards", compiled["guards"])
            yield from _listed("graphs", compiled["graphs"])
            yield from _listed("kernels", compiled["kernels"])
        yield Text()


def _texts(items: list[Json]) -> Iterator[RenderableType]:
    for item in items:
        what = " ".join(part for part in (item["stage"], item["part"]) if part)
        yield Text(what, "bold").append(f"  compile {item['id']}", "default").append(f"  {item['file']}", "dim")
        yield _code(item["text"], item.get("line", 1))
        yield Text()


def _caches(items: list[Json]) -> Iterator[RenderableType]:
    styles = {"hit": "green", "miss": "yellow", "bypass": "red"}
    for item in items:
        head = Text(f"{item['outcome']:<7}", styles.get(item["outcome"], "")).append(f"{item['cache']}  ", "bold")
        yield head.append(f"compile {item['id']} of {item['function']}").append(
            f"  {seconds_text(item['seconds'])}", "dim"
        )
        if item["why"]:
            yield below(Text(item["why"]), INDENT)
        for line in item["details"]:
            yield below(Text(line, "green" if line.startswith("+") else "red"), 2 * INDENT)


def _listed(what: str, names: Iterable[str]) -> Iterator[RenderableType]:
    shown_names = list(names)
    if shown_names:
        yield Text(f"{what}:", "dim")
        yield below(Text("\n".join(shown_names)), INDENT)


def _code(text: str, first: int = 1) -> RenderableType:
    lines = text.rstrip("\n").splitlines()
    # The terminal wraps long lines. A line that rich wraps is not the code.
    width = max(map(len, lines), default=0) + 1
    code = "\n".join(lines)
    return Syntax(code, "python", line_numbers=True, start_line=first, code_width=width, background_color="default")


def _folded_code(text: str) -> Iterator[RenderableType]:
    """Yield code without the lines that a page folds; `--json` has them."""
    lines, shown = text.rstrip("\n").splitlines(), 0
    for fold in folds(text):
        yield _code("\n".join(lines[shown : fold.first - 1]), shown + 1)
        yield Text(f"    … {fold.words}: --json", "dim")
        shown = fold.last
    yield _code("\n".join(lines[shown:]), shown + 1)


def _number(value: int | None) -> str:
    return "" if value is None else str(value)


RENDERERS: Mapping[str, Callable[[list[Json]], Iterator[RenderableType]]] = {
    "overview": _overview,
    "findings": _findings,
    "breaks": _breaks,
    "recompiles": _recompiles,
    "costs": _costs,
    "compile_times": _compile_times,
    "caches": _caches,
    "function": _functions,
    "graph": _texts,
    "kernel": kernel_text,
    "line": line_text,
}
