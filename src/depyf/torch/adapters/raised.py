"""The exception that ends a compile: the part of the compiler that raised it, the backend, and the chain of causes."""

from __future__ import annotations

import os
import re
import sys
import traceback
import types
from collections.abc import Iterator
from dataclasses import replace

import torch

from depyf.model.failure import Failure
from depyf.model.reproducible import reproducible
from depyf.model.user_line import UserLine
from depyf.model.user_source import is_foreign, line_at
from depyf.torch.adapters.caller import backend, compiling_locals, failure_reaches_program, own_frame

_IN_PASSES = "in a pass"
_PHASES = (
    ("_inductor/fx_passes/pre_grad.py", "Inductor, in a pass before autograd"),
    ("_inductor/fx_passes/joint_graph.py", "Inductor, in a pass on the joint graph"),
    ("_inductor/fx_passes/post_grad.py", "Inductor, in a pass after autograd"),
    ("_inductor/fx_passes/", "Inductor, in a pass on the graph"),
    ("_inductor/pattern_matcher.py", "Inductor, in a pass on the graph"),
    ("_inductor/custom_graph_pass.py", "Inductor, in a pass on the graph"),
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
    compile_phase = phase() or failure.phase
    error = sys.exc_info()[1]
    user_place = _own_line(error) if _IN_PASSES in compile_phase else None
    if user_place is None and (failure.where is None or is_foreign(failure.where.filename)):
        user_place = _traced_line(error)
    return replace(
        failure,
        raised=failure_reaches_program(),
        phase=compile_phase,
        where=user_place or failure.where,
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


def call_failure(error: Exception, backend_name: str, frame: types.FrameType | None, part: str = "") -> Failure:
    """Return the failure of a call: an exception of a compiled graph, which `frame` called for the program.

    The user's line is that of the operation in the compiled function if the graph knows it, else that of the call.

    Args:
        error: the exception.
        backend_name: the name of the backend, or "".
        frame: the frame that called the graph.
        part: what follows the name of the backend, for example ", in its backward".
    """
    links = list(_chain(error))
    lines = reproducible(str(error)).strip()
    return Failure(
        type(error).__name__,
        lines,
        _line_of_graph(links) or _line_of_call(frame),
        f"the code of the backend{f' `{backend_name}`' if backend_name else ''}{part}",
        raised=True,
        causes=tuple(dict.fromkeys(map(_words, links[1:]))),
    )


def _line_of_graph(links: list[BaseException]) -> UserLine | None:
    """Return the user's line of the operation that raised, if a graph in a traceback knows it."""
    for link in reversed(links):
        for frame, line in reversed(list(traceback.walk_tb(link.__traceback__))):
            graph = frame.f_locals.get("self")
            numbers = getattr(graph, "_lineno_map", None) if isinstance(graph, torch.fx.GraphModule) else None
            if not isinstance(graph, torch.fx.GraphModule) or not isinstance(numbers, dict):
                continue
            index = numbers.get(line - getattr(graph, "_prologue_start", 0))
            nodes = list(graph.graph.nodes)
            stack = nodes[index].meta.get("stack_trace") if index is not None and index < len(nodes) else None
            places = list(_PLACE.finditer(stack)) if isinstance(stack, str) else []
            users_places = [place for place in places if not is_foreign(place["file"])]
            if users_places:
                return line_at(users_places[-1]["file"], int(users_places[-1]["line"]), users_places[-1]["function"])
    return None


_PLACE = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>.+)')


def _line_of_call(frame: types.FrameType | None) -> UserLine | None:
    """Return the user's line that calls the compiled function whose code is in `frame`."""
    return own_frame(frame.f_back) if frame is not None else None


def _own_line(error: BaseException | None) -> UserLine | None:
    """Return the innermost line of the user's own in the tracebacks of an exception and its causes, or None."""
    for link in reversed(list(_chain(error))) if error is not None else ():
        for frame, line in reversed(list(traceback.walk_tb(link.__traceback__))):
            if not is_foreign(frame.f_code.co_filename):
                return line_at(frame.f_code.co_filename, line, frame.f_code.co_name)
    return None


def _traced_line(error: BaseException | None) -> UserLine | None:
    """Return the innermost line of the user's own that Dynamo traced when an exception was raised, or None.

    torch names the innermost line of all, which may be of a library that the user's line calls.
    """
    for link in _chain(error) if error is not None else ():
        for frame in reversed(getattr(link, "real_stack", None) or ()):
            if not is_foreign(frame.filename):
                return line_at(frame.filename, frame.lineno or 0, frame.name)
    return None


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
