"""The state of each line that Dynamo read in a compile: whether operations of its graphs come from it."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator

from depyf.model.artifacts.graph_source import user_lines
from depyf.model.lines_read import LinesRead
from depyf.model.names import resumed_function
from depyf.model.run import Compile, Function, Recompile
from depyf.model.syntax import deciding
from depyf.model.user_source import function_source
from depyf.torch.adapters import lacking
from depyf.torch.adapters.lines_read import Reading
from depyf.torch.adapters.skips import OF_TORCH

CAPTURED = "Captured_Graph"


def note_lines(compiled: Compile, function: Function, reading: Reading) -> None:
    """Note the lines that Dynamo read in a compile, and the objects that it changes if torch does not report them.

    Args:
        compiled: the compile, which has its graphs.
        function: the function of the compile.
        reading: the lines that Dynamo read.
    """
    compiled.lines = _lines_read(compiled, reading)
    if lacking.side_effects() is not None:
        from depyf.model.assigned_objects import assigned_objects  # only an older torch needs it

        compiled.effects = list(assigned_objects(compiled.lines, (function.filename, function.first_line)))


def _lines_read(compiled: Compile, reading: Reading) -> tuple[LinesRead, ...]:
    """Return the state of each function that Dynamo read in a compile, without torch's own."""
    texts = [artefact.text for artefact in compiled.artefacts if artefact.stage == CAPTURED]
    in_graphs = _with_callers({(line.filename, line.line) for text in texts for line in user_lines(text)}, reading)
    is_again = isinstance(compiled.trigger, Recompile)
    return tuple(
        LinesRead(
            name=name_of(code),
            filename=code.co_filename,
            first_line=code.co_firstlineno,
            # The lines of a resume function belong to its function.
            lines=tuple(sorted(body & lines if resumed_function(code.co_name) else body)),
            in_graphs=tuple(sorted(line for line in body if (code.co_filename, line) in in_graphs)),
            read=tuple(sorted(body & lines)),
            deciding=_deciding(code) if is_again else (),
        )
        for code, lines in reading.lines().items()
        if not code.co_filename.startswith((OF_TORCH, "<")) and (body := set(_own_lines(code)))
    )


def _deciding(code: types.CodeType) -> tuple[str, ...]:
    """Return the values on which the branches and loops of a function depend. Only causes of recompiles need them."""
    return deciding(function_source(code.co_filename, code.co_firstlineno))


def name_of(code: types.CodeType) -> str:
    """Return the name of a function with its class; for a resume function, that of its function."""
    resumed = resumed_function(code.co_name)
    whole = str(getattr(code, "co_qualname", code.co_name))
    if code.co_filename.startswith(OF_TORCH):
        # Many of torch's functions are named `wrapper`. The enclosing function distinguishes them.
        whole = whole.replace("<locals>.", "")
    whole = whole.rpartition("<locals>.")[2]
    if resumed is None:
        return whole
    scope = whole.rpartition(".")[0]
    return f"{scope}.{resumed[0]}" if scope else resumed[0]


def _own_lines(code: types.CodeType) -> Iterator[int]:
    """Yield the lines of a function that do something. The first, which creates the frame, counts only on its own."""
    lines = {line for _, _, line in code.co_lines() if line}
    body = lines - {code.co_firstlineno}
    if body and code.co_flags & inspect.CO_NEWLOCALS and not code.co_name.startswith("<"):
        # A decorated function begins at its decorator, but its frame is created at the line of the `def`.
        yield from body
    else:
        yield from lines


def _with_callers(in_graphs: set[tuple[str, int]], reading: Reading) -> set[tuple[str, int]]:
    """Return lines together with the lines that call a function with one of these lines."""
    by_code = {code: {(code.co_filename, line) for line in lines} for code, lines in reading.lines().items()}
    pending = [code for code, lines in by_code.items() if lines & in_graphs]
    callers: dict[types.CodeType, list[tuple[types.CodeType, int]]] = {}
    for place, called in reading.calls().items():
        for code in called:
            callers.setdefault(code, []).append(place)
    all_of, done = set(in_graphs), set(pending)
    while pending:
        for code, line in callers.get(pending.pop(), ()):
            all_of.add((code.co_filename, line))
            if code not in done:
                done.add(code)
                pending.append(code)
    return all_of
