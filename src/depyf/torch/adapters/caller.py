"""The call that Dynamo compiles, from the frames below the functions that Dynamo calls during the compile."""

from __future__ import annotations

import inspect
import os
import sys
import traceback
import types
from collections.abc import Mapping

import torch
from torch._dynamo.exc import UncapturedHigherOrderOpError, Unsupported, UserError

from depyf.model.run import Unavailable
from depyf.model.user_line import UserLine
from depyf.model.user_source import is_foreign, line_at

_DEEPEST = 30
"""The most calls between Dynamo's compile and a hook; in practice fewer than ten."""
_WRAPPER = f"{os.sep}_dynamo{os.sep}eval_frame.py"
"""The end of the path of the file with the functions that `torch.compile` puts around a function."""
_COMPILER = f"{os.sep}_dynamo{os.sep}convert_frame.py"
"""The end of the path of the file with Dynamo's compile."""


def _compiling(frame: types.FrameType | None) -> types.FrameType | None:
    """Return the innermost frame, from this one outwards, in which Dynamo compiles a function."""
    while frame is not None:
        code = frame.f_code
        if code.co_filename.endswith(_COMPILER) and _NAMES <= set(code.co_varnames):
            return frame
        frame = frame.f_back
    return None


def own_frame(frame: types.FrameType | None) -> UserLine | None:
    """Return the innermost line of the user's own in a stack, or None."""
    while frame is not None and is_foreign(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return None
    return line_at(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


def is_in_compiled_call(frame: types.FrameType | None) -> bool:
    """Return whether a frame runs inside a call of a compiled function, where Dynamo looks at each frame."""
    while frame is not None:
        if frame.f_code.co_filename.endswith(_WRAPPER) and "fn" in frame.f_code.co_freevars:
            return True
        frame = frame.f_back
    return False


_NAMES = {"code", "compiler_fn"}
"""Variables of the compiling function."""


def code_in_progress() -> types.CodeType | None:
    """Return the code object of the function that Dynamo compiles in this thread, or None."""
    frame = _compiling(sys._getframe(1).f_back)
    while frame is not None:
        code = frame.f_locals.get("code")
        if isinstance(code, types.CodeType):
            return code
        frame = _compiling(frame.f_back)
    return None


def place_of_call(not_users: tuple[str, ...]) -> tuple[str, int, str] | None:
    """Return the file, line and function of the call of the function that Dynamo compiles in this thread, or None.

    `not_users` are the prefixes of files to skip: Dynamo's own, and those that run in a caller's place.
    """
    frame = _compiling(sys._getframe(1))
    while frame is not None and frame.f_code.co_filename.startswith(not_users):
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name) if frame is not None else None


def interrupt() -> BaseException | None:
    """Return the exception that interrupts the program in this thread, such as KeyboardInterrupt, or None.

    torch does not count it as a failure.
    """
    error = sys.exc_info()[1]
    return error if error is not None and not isinstance(error, Exception) else None


def compiling_locals() -> Mapping[str, object]:
    """Return the variables of Dynamo's compile in this thread; empty outside of one."""
    frame = _compiling(sys._getframe(1))
    return frame.f_locals if frame is not None else {}


def wrapped_name(code: types.CodeType) -> str:
    """Return the name of the function that a decorator's wrapper hands its arguments on to, or "".

    >>> def decorate(function):
    ...     def wrapper(*args, **kwargs):
    ...         return function(*args, **kwargs)
    ...     return wrapper

    All functions with this decorator share the code of `wrapper`, and only the closure of the compiled one names it.

    Args:
        code: the code that Dynamo compiles in this thread.
    """
    hands_on = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    closure = compiling_locals().get("closure")
    if code.co_flags & hands_on != hands_on or not isinstance(closure, tuple):
        return ""
    functions = [value for cell in closure if isinstance(value := _content(cell), types.FunctionType)]
    return functions[0].__qualname__.rpartition("<locals>.")[2] if len(functions) == 1 else ""


def _content(cell: object) -> object:
    try:
        return cell.cell_contents if isinstance(cell, types.CellType) else None
    except ValueError:
        return None  # The variable has no value yet.


def is_static() -> bool:
    """Return whether the compile in this thread may make no size dynamic, as with `torch.compile(..., dynamic=False)`.

    Source: `make_set_enable_dynamic` in `torch/_dynamo/eval_frame.py`, which sets this option for each such call.
    """
    return not torch._dynamo.config.automatic_dynamic_shapes and torch._dynamo.config.assume_static_by_default


def backend() -> str:
    """Return the name of the backend of the compile in this thread, as the user writes it, or ""."""
    compiler = compiling_locals().get("compiler_fn")
    for _ in range(_DEEPEST):
        inner = getattr(compiler, "_torchdynamo_orig_backend", None) or getattr(
            compiler, "_torchdynamo_orig_callable", None
        )
        if inner is None or inner is compiler:
            break
        compiler = inner
    name = getattr(compiler, "compiler_name", None) or getattr(compiler, "__name__", None)
    if not isinstance(name, str):
        wrapped = getattr(compiler, "compiler_fn", None)
        name = getattr(wrapped, "__name__", "") if wrapped is not None else ""
    return name if isinstance(name, str) else ""


def disabled_function() -> object:
    """Return the function at whose call Dynamo ends a graph in this thread because it is disabled, or None.

    Dynamo handles its own exception then. A frame of the traceback belongs to Dynamo's variable for the function.
    """
    error = sys.exc_info()[1]
    if not isinstance(error, Unsupported):
        return None
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        variable = frame.f_locals.get("self")
        if not type(variable).__module__.startswith("torch._dynamo.variables."):
            continue
        for function in (vars(variable).get("value"), vars(variable).get("fn")):
            if getattr(function, "_torchdynamo_disable", False) is True:
                return getattr(function, "_torchdynamo_orig_callable", function)
    return None


def failure_reaches_program() -> bool:
    """Return whether the exception that ends the current compile propagates to the program instead of an eager run."""
    frame = _compiling(sys._getframe(1))
    if frame is not None:
        shown = frame.f_locals
        if shown.get("one_graph") or getattr(shown.get("convert_frame_box"), "error_on_graph_break", None):
            return True
    error = sys.exc_info()[1]
    if isinstance(error, UncapturedHigherOrderOpError):
        return True
    return not (isinstance(error, (Unsupported, UserError)) or torch._dynamo.config.suppress_errors)


def locals_in_progress() -> Mapping[str, object] | Unavailable:
    """Return the local variables of the call that is being compiled, while Dynamo hands over its code."""
    frame = sys._getframe(1).f_back
    for _ in range(_DEEPEST):
        if frame is None:
            break
        if {"locals", "compiler_fn"} <= set(frame.f_code.co_varnames):
            local_values = frame.f_locals.get("locals")
            if isinstance(local_values, Mapping):
                return local_values
        frame = frame.f_back
    return Unavailable("torch does not give a hook the variables of the call")
