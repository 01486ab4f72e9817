"""What became of the lines that Dynamo read in a compile: those that operations of its graphs stand for, and others."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator

from depyf.report.graph_source import user_lines
from depyf.report.lines_read import LinesRead
from depyf.report.model import Compile
from depyf.report.names import resumed_function
from depyf.torch.adapters.lines_read import Reading
from depyf.torch.adapters.skips import OF_TORCH

CAPTURED = "Captured_Graph"


def lines_read(compiled: Compile, reading: Reading) -> tuple[LinesRead, ...]:
    """Return what became of each function that Dynamo read in a compile, torch's own left out."""
    texts = [each.text for each in compiled.artefacts if each.stage == CAPTURED]
    in_graphs = _with_callers({(line.filename, line.line) for text in texts for line in user_lines(text)}, reading)
    return tuple(
        LinesRead(
            name=name_of(code),
            filename=code.co_filename,
            first_line=code.co_firstlineno,
            # The rest of a function is a part of it, whose lines are told with the whole.
            lines=tuple(sorted(own & lines if resumed_function(code.co_name) else own)),
            in_graphs=tuple(sorted(line for line in own if (code.co_filename, line) in in_graphs)),
            read=tuple(sorted(own & lines)),
        )
        for code, lines in reading.lines().items()
        if not code.co_filename.startswith((OF_TORCH, "<")) and (own := set(_own_lines(code)))
    )


def name_of(code: types.CodeType) -> str:
    """Return the name of a function with its class, the one that it resumes where it is the rest of it."""
    resumed = resumed_function(code.co_name)
    whole = str(getattr(code, "co_qualname", code.co_name))
    if code.co_filename.startswith(OF_TORCH):
        # Many of torch's own are a `wrapper`: what makes it tells which.
        whole = whole.replace("<locals>.", "")
    whole = whole.rpartition("<locals>.")[2]
    if resumed is None:
        return whole
    scope = whole.rpartition(".")[0]
    return f"{scope}.{resumed[0]}" if scope else resumed[0]


def _own_lines(code: types.CodeType) -> Iterator[int]:
    """Yield the lines of a function that do something: its first one, which makes its frame, only if it is all."""
    lines = {line for _, _, line in code.co_lines() if line}
    body = lines - {code.co_firstlineno}
    if body and code.co_flags & inspect.CO_NEWLOCALS and not code.co_name.startswith("<"):
        # A decorated function begins at its decorator, and its frame is made at the line of the `def`.
        yield from body
    else:
        yield from lines


def _with_callers(found: set[tuple[str, int]], reading: Reading) -> set[tuple[str, int]]:
    """Return lines with those that call a function one of whose lines is among them."""
    by_code = {code: {(code.co_filename, line) for line in lines} for code, lines in reading.lines().items()}
    pending = [code for code, lines in by_code.items() if lines & found]
    callers: dict[types.CodeType, list[tuple[types.CodeType, int]]] = {}
    for place, called in reading.calls().items():
        for code in called:
            callers.setdefault(code, []).append(place)
    all_of, done = set(found), set(pending)
    while pending:
        for code, line in callers.get(pending.pop(), ()):
            all_of.add((code.co_filename, line))
            if code not in done:
                done.add(code)
                pending.append(code)
    return all_of
