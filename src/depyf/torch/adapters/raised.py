"""The exception that ends a compile: the part of the compiler that raised it, the backend, and the chain of causes."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from dataclasses import replace

from depyf.model.failure import Failure
from depyf.torch.adapters.caller import backend, compiling_locals, failure_reaches_program

_PHASES = (
    ("_inductor/cpp_builder.py", "Inductor, in the C++ compiler"),
    ("_inductor/codecache.py", "Inductor, while it compiled or loaded kernels"),
    ("_inductor/async_compile.py", "Inductor, while it compiled kernels"),
    ("_inductor/runtime/", "Inductor, while it compiled kernels"),
    ("_inductor/scheduler.py", "Inductor, in its scheduler"),
    ("_inductor/codegen/", "Inductor, while it generated code"),
    ("_inductor/lowering.py", "Inductor, while it lowered the graph"),
    ("_inductor/graph.py", "Inductor, while it lowered the graph"),
    ("_inductor/", "Inductor"),
    ("_functorch/", "AOTAutograd"),
    ("_dynamo/guards.py", "Dynamo, while it made the guards"),
)
"""The phase of an exception by the innermost frame that is in one of these files of torch."""
_CALLS_BACKEND = frozenset(("call_user_compiler", "_call_user_compiler"))
_OF_DYNAMO = "_dynamo/"
_AROUND_BACKENDS = ("_dynamo/repro/", "_dynamo/backends/", "_dynamo/utils.py")
"""Files of Dynamo that call a backend, or run inside of one."""
_OF_TORCH = f"{os.sep}torch{os.sep}"
MOST_CAUSES = 8
"""The most exceptions of a chain that are kept; a chain can be a circle."""


def completed(failure: Failure) -> Failure:
    """Return a failure with the facts of the exception that ends the compile of this thread."""
    return replace(
        failure,
        raised=failure_reaches_program(),
        phase=phase() or failure.phase,
        causes=causes(),
        demanded_by=demanded_by(),
    )


def phase() -> str:
    """Return the part of the compiler that raised the exception in this thread, or "" if there is none."""
    error = sys.exc_info()[1]
    if error is None:
        return ""
    frames = [
        (_path(frame.f_code.co_filename), frame.f_code.co_name)
        for link in _chain(error)
        for frame, _ in traceback.walk_tb(link.__traceback__)
    ]
    for path, function in reversed(frames):
        words = next((words for part, words in _PHASES if part in path), "")
        if words:
            return words
        if function in _CALLS_BACKEND:
            return f"the backend `{backend()}`" if backend() else "the backend"
        if path.startswith(_OF_DYNAMO) and not path.startswith(_AROUND_BACKENDS):
            return "Dynamo, while it traced the function"
    return ""


def _path(filename: str) -> str:
    """Return the path of a file of torch below its package, or "" for another file."""
    _, is_of_torch, below = filename.rpartition(_OF_TORCH)
    return below.replace(os.sep, "/") if is_of_torch else ""


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and its causes, outermost first."""
    link: BaseException | None = error
    for _ in range(MOST_CAUSES):
        if link is None:
            return
        yield link
        # torch raises BackendCompilerFailed `from None`, and keeps the exception of the backend beside it.
        inner = getattr(link, "inner_exception", None)
        kept = inner if isinstance(inner, BaseException) else link.__cause__
        link = kept or (None if link.__suppress_context__ else link.__context__)


def causes() -> tuple[str, ...]:
    """Return the causes of the exception in this thread, outermost first, each with its type and first line."""
    error = sys.exc_info()[1]
    lines = [_words(link) for link in _chain(error)][1:] if error is not None else []
    return tuple(dict.fromkeys(lines))


def _words(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def demanded_by() -> str:
    """Return what in the program asks for one whole graph in the compile of this thread, or ""."""
    names = compiling_locals()
    if names.get("one_graph"):
        return "`fullgraph=True`"
    return "`error_on_graph_break`" if getattr(names.get("convert_frame_box"), "error_on_graph_break", None) else ""
