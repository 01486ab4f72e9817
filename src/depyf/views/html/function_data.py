"""The data of the page of one function: its source, its entries, their texts, and which lines are linked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from depyf.bytecode.records import dataclass
from depyf.links.blocks import Block, blocks
from depyf.links.documents import Document, documents, origin_of
from depyf.links.kernel_calls import first_kernel, kernel_calls
from depyf.links.line_states import FunctionLines, LineState
from depyf.links.origins import Links, Origin, Origins, joined
from depyf.model.counts import counted, guard_count
from depyf.model.index_reader import Family, Run
from depyf.model.names import graph_number, resumed_function
from depyf.model.naming import title
from depyf.model.run import Compile, Function, GraphBreak, Guard, GuardSet, Resume, Transformed
from depyf.model.skips import plain_reason
from depyf.model.status import status_of
from depyf.views.folds import folds
from depyf.views.html.chunks import Chunks
from depyf.views.html.owners import owner_of
from depyf.views.words import backend_words, proof_words, trigger_words

MOST_INLINE = 16_000
"""The longest text that comes with its function, in characters. A longer one is loaded on demand."""

FOLDED = ("python", "cpp")
"""The languages in which docstrings and imports are folded. A module of kernels is C++ in Python."""

Json = dict[str, Any]


@dataclass(slots=True)
class _Places:
    """Numbers for the user's lines that a page mentions."""

    numbers: dict[Origin, int] = field(default_factory=dict)

    def of(self, origins: Origins) -> list[int]:
        return [self.numbers.setdefault(origin, len(self.numbers)) for origin in sorted(origins)]


def function_data(
    run: Run,
    root: Function,
    family: Family,
    chunks: Chunks,
    name: str,
    lines: Sequence[FunctionLines] = (),
    named: Iterable[Origin] = (),
) -> str:
    """Add the chunks of a root function's page; return the name of the first, which names the others.

    Args:
        run: the run.
        root: the function of the page.
        family: the compiles of the function and of its resume functions, in order.
        chunks: the data files of the report.
        name: the address of the page.
        lines: the states of the lines of the run's functions.
        named: lines that must be shown because addresses of the page name them.
    """
    return chunks.add(name, shown_entries(run, root, family, chunks, name, lines, named))


def shown_entries(
    run: Run,
    root: Function,
    family: Family,
    chunks: Chunks,
    name: str,
    lines: Sequence[FunctionLines] = (),
    named: Iterable[Origin] = (),
) -> Json:
    """Return the data of a function and its compiles. Texts that are too long for it become chunks.

    Args:
        run: the run.
        root: the function of the page.
        family: the compiles of the function and of its resume functions, in order.
        chunks: the data files of the report.
        name: the address of the page.
        lines: the states of the lines of the run's functions.
        named: lines that must be shown because addresses of the page name them.
    """
    places = _Places()
    entries = [_entry(run, function, compiled, places, chunks, name) for function, compiled in family]
    rests = _rests(run, root, places)
    places.of(frozenset(named))
    return {
        "name": title(root),
        "owner": owner_of(run, root),
        "file": root.filename,
        "line": root.first_line,
        "entries": entries,
        "rests": rests,
        "states": {state.value: state.words for state in LineState},
        "share": next((line.words for line in lines if line.is_of(root)), ""),
        "origins": [list(origin) for origin in places.numbers],
        "blocks": [
            _block(block, lines) for block in source_blocks(run, root, places.numbers, _computed(entries, places))
        ],
    }


def _computed(entries: list[Json], places: _Places) -> Counter[str]:
    """Return how many lines of each file are in captured graphs. Guards refer to many more files."""
    shown = {place for entry in entries for lines in entry["graphs"].values() for place in lines}
    return Counter(file for (file, _), number in places.numbers.items() if number in shown)


def source_blocks(run: Run, root: Function, origins: Iterable[Origin], computed: Mapping[str, int]) -> list[Block]:
    """Return the parts of the user's files that a page shows: the function, then the files with most lines in graphs.

    Args:
        run: the run, which holds the sources.
        root: the function of the page.
        origins: the lines to show.
        computed: the number of lines of each file that are in graphs.
    """
    by_file: dict[str, list[int]] = {root.filename: []}
    for file, line in origins:
        by_file.setdefault(file, []).append(line)
    parts: list[Block] = []
    for file, lines in sorted(by_file.items(), key=lambda item: -computed.get(item[0], 0)):
        text = run.text(run.session.sources.get(file, ""))
        parts += blocks(file, text, lines, root.first_line if file == root.filename else None)
    return sorted(parts, key=lambda block: not _holds(block, root))


def _holds(block: Block, root: Function) -> bool:
    """Return whether a part of a file contains a function."""
    return block.file == root.filename and block.first <= root.first_line <= block.last


def _block(block: Block, lines: Sequence[FunctionLines]) -> Json:
    states: dict[str, list[int]] = {}
    for function in lines:
        if function.filename == block.file:
            for line, state in function.states.items():
                if block.first <= line <= block.last:
                    states.setdefault(state.value, []).append(line)
    return {"file": block.file, "first": block.first, "name": block.name, "text": block.text, "states": states}


def _entry(run: Run, function: Function, compiled: Compile, places: _Places, chunks: Chunks, name: str) -> Json:
    texts = documents(run, function, compiled)
    transformed = compiled.transformed
    return {
        "key": entry_key(compiled),
        "id": str(compiled.id),
        "fn": title(function),
        "status": status_of(compiled).value,
        "why": _why(run.session.functions.get(function.root, function), function, compiled),
        "kind": type(compiled.trigger).__name__,
        "proof": proof_words(compiled),
        "backend": backend_words(compiled),
        "level": transformed.level.name if isinstance(transformed, Transformed) else "none",
        "hits": compiled.hits,
        "ops": compiled.op_count,
        "guards": guard_count(compiled),
        "seconds": compiled.seconds,
        "gone": compiled.gone,
        "restarts": _restarts(compiled),
        "failure": _failure(compiled),
        "missing": "" if isinstance(transformed, Transformed) else plain_reason(transformed.reason),
        "breaks": [
            {
                "at": places.of(origin_of(graph_break.where)),
                "from": places.of(_callers(graph_break, function, run.session.functions[function.root])),
                "reason": graph_break.reason,
                "code": graph_break.code,
                "hints": graph_break.hints,
            }
            for graph_break in compiled.breaks
        ],
        "resumes": places.of(_resumed(function)),
        "graphs": _graphs(texts, places),
        "guarded": _guarded(compiled, places),
        "docs": [
            _document(document, places, chunks, f"{name}-{entry_key(compiled)}-{number}")
            for number, document in enumerate(texts)
        ],
    }


def _restarts(compiled: Compile) -> str:
    """Return how often Dynamo restarted the compile, and why, as far as torch recorded it."""
    if compiled.attempts < 2:
        return ""
    recorded = compiled.metrics.get("restart_reasons")
    reasons = [str(reason).partition("\n")[0] for reason in recorded] if isinstance(recorded, list) else []
    times = "once" if compiled.attempts == 2 else f"{compiled.attempts - 1} times"
    return f"Dynamo restarted it {times}{': ' if reasons else ''}{'; '.join(sorted(reasons))}"


def entry_key(compiled: Compile) -> str:
    """Return the name of a compile in addresses of the page. torch's ids are not unique after a reset."""
    return f"c{compiled.order}"


def _failure(compiled: Compile) -> Json | None:
    """Return why a compile failed, or else the first exception that its code raised in calls."""
    failure = compiled.failure or next((call_failure.failure for call_failure in compiled.call_failures), None)
    if failure is None:
        return None
    calls = sum(call_failure.times for call_failure in compiled.call_failures)
    begin = "" if compiled.failure else f"{counted(calls, 'call')} failed in {failure.phase}: "
    return {
        "summary": f"{begin}{failure.kind}: {failure.summary}",
        "explanations": [*failure.explanations, *(f"caused by {cause}" for cause in failure.causes)],
        "hints": failure.hints,
        "whole": failure.reason,
    }


def _why(root: Function, function: Function, compiled: Compile) -> str:
    match compiled.trigger:
        case Resume():
            return f"{trigger_words(root, function, compiled)}, from line {function.resumes_at} on"
        case _:
            return trigger_words(root, function, compiled)


def _callers(graph_break: GraphBreak, function: Function, root: Function) -> Origins:
    """Return the lines of a function that lead to its graph break."""
    names = {function.name, root.name}
    lines = (line for line in graph_break.stack if line.filename == root.filename and line.function in names)
    return joined(map(origin_of, lines)) - origin_of(graph_break.where)


def _rests(run: Run, root: Function, places: _Places) -> list[Json]:
    """Return the breaks after which Dynamo did not compile the rest of a function: the lines, and the reasons."""
    rests = []
    for (name, file, reason), _ in run.session.skipped.items():
        rest = resumed_function(name)
        if rest is not None and (rest[0], file) == (root.name, root.filename):
            rests.append({"at": places.of(frozenset(((file, rest[1]),))), "reason": reason})
    return rests


def _resumed(function: Function) -> Origins:
    if function.resumes_at is None:
        return frozenset()
    return frozenset(((function.filename, function.resumes_at),))


def _graphs(texts: list[Document], places: _Places) -> dict[str, list[int]]:
    """Return the user's lines of each captured graph, by its number."""
    lines_by_graph: dict[str, list[int]] = {}
    for text in texts:
        number = graph_number(text.file)
        if number is not None and text.key.startswith("captured_graph"):
            lines_by_graph[str(number)] = places.of(text.links.all())
    return lines_by_graph


def _guarded(compiled: Compile, places: _Places) -> dict[int, int]:
    """Return how many guards each of the user's lines needs."""
    counts: dict[int, int] = {}
    guards: Iterable[Guard] = compiled.guards.guards if isinstance(compiled.guards, GuardSet) else ()
    for guard in guards:
        for place in places.of(origin_of(guard.where)):
            counts[place] = counts.get(place, 0) + 1
    return counts


def _document(document: Document, places: _Places, chunks: Chunks, name: str) -> Json:
    content: Json = {
        "key": document.key,
        "label": document.label,
        "language": document.language,
        "lead": document.is_leading,
        "file": document.file,
        "lines": document.text.count("\n") + 1,
        "note": document.links.note,
        "kernels": [[call.line, call.name] for call in kernel_calls(document.text)] if document.is_kernels else [],
        "starts": first_kernel(document.text) if document.is_kernels else 1,
        "links": runs(document.links, places.of),
        "folds": _folds(document),
    }
    if len(document.text) <= MOST_INLINE:
        return content | {"text": document.text}
    # The title is apart, because a graph before and after a pass is often the same but for its title.
    end = document.text.find("\n") + 1 if document.text.startswith("#") else 0
    return content | {"head": document.text[:end], "chunk": chunks.add_text(name, document.text[end:])}


def _folds(document: Document) -> list[list[Any]]:
    all_folds = folds(document.text) if document.language in FOLDED else []
    return [[fold.first, fold.last, fold.words] for fold in all_folds]


def runs(links: Links, numbers: Callable[[Origins], list[int]]) -> list[list[Any]]:
    """Return links as runs of lines with the same places: first line, last line, numbers of the places."""
    line_runs: list[list[Any]] = []
    before: Origins = frozenset()
    for line, origins in sorted(links.lines.items()):
        if line_runs and line_runs[-1][1] == line - 1 and before == origins:
            line_runs[-1][1] = line
        else:
            line_runs.append([line, line, numbers(origins)])
        before = origins
    return line_runs
