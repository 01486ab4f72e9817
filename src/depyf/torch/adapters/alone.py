"""Graphs that are compiled without a call of Dynamo's: export, AOTInductor, `standalone_compile`, `compile_fx`.

torch gives the records of such a compile no id. It writes them inside one call of a torch function by the program.
"""

from __future__ import annotations

import contextlib
import os
import sys
import types
import weakref
from collections.abc import Callable

import torch

from depyf.bytecode.records import dataclass
from depyf.model.user_line import UserLine
from depyf.model.user_source import line_at

_TORCH = os.path.join(os.path.dirname(torch.__file__), "")
_OF_TORCH = (_TORCH, contextlib.__file__)
_COMPILERS = tuple(
    os.path.join(_TORCH, *parts)
    for parts in (
        ("export", ""),
        ("_export", ""),
        ("_inductor", ""),
        ("_functorch", "aot_autograd.py"),
        ("_functorch", "_aot_autograd", ""),
    )
)
"""Prefixes of the files of torch whose functions compile what a program passes to them."""


@dataclass(frozen=True, slots=True)
class Alone:
    """One such compile in progress.

    key: its identity among the compiles in progress.
    of: returns the compiled object while it lives, or None.
    stack: the line of the program that asks for the compile, then the compiled function: the user's function of a
        module or of a saved function, or torch's own function if a graph is given.
    code: the user's code, for a module or a saved function.
    asked: the name of torch's function that the program has called.
    is_traced: whether torch runs the user's module to get its graph, and Dynamo compiles nothing.
    """

    key: int
    of: Callable[[], object]
    stack: tuple[UserLine, ...]
    code: types.CodeType | None
    is_traced: bool
    asked: str


_TRACES = "_non_strict_export"
_SAVED = os.path.join("_dynamo", "aot_compile.py")
"""The file with the function that loads what `aot_compile` has saved. The function has another name since 2.15."""


def in_progress() -> Alone | None:
    """Return the compile without a call in this thread, or None. A nested one is a part of the outer one."""
    outermost, is_traced = None, False
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename.startswith(_COMPILERS):
            outermost = frame
            is_traced |= frame.f_code.co_name == _TRACES
        frame = frame.f_back
    return _of_call(outermost, is_traced=is_traced) if outermost is not None else None


def _of_call(frame: types.FrameType, *, is_traced: bool) -> Alone:
    names = frame.f_code.co_varnames
    first = frame.f_locals.get(names[0]) if names else None
    try:
        of: Callable[[], object] = weakref.ref(first)
    except TypeError:
        of = _unknown
    code, asked, name = _forward(first), frame, frame.f_code.co_name
    # The program may call a function of torch's that asks for the compile, in a decorator of `contextlib`.
    while asked.f_back is not None and asked.f_back.f_code.co_filename.startswith(_OF_TORCH):
        asked = asked.f_back
        name = asked.f_code.co_name if asked.f_code.co_filename != contextlib.__file__ else name
        code = code or _saved_code(asked)
    caller = asked.f_back
    place = (caller.f_code.co_filename, caller.f_lineno, caller.f_code.co_name) if caller is not None else None
    callers = (line_at(*place),) if place is not None else ()
    if code is not None:
        here = line_at(code.co_filename, code.co_firstlineno, code.co_name)
    elif callers:
        here = UserLine(callers[0].filename, callers[0].line, callers[0].text, name)
    else:
        here = UserLine(frame.f_code.co_filename, frame.f_lineno, "", frame.f_code.co_name)
    return Alone(id(frame), of, (*callers, here), code, is_traced, name)


def _saved_code(frame: types.FrameType) -> types.CodeType | None:
    """Return the code of the user's function that torch loads in this frame. torch makes the graphs first."""
    if not frame.f_code.co_filename.endswith(_SAVED):
        return None
    state = frame.f_locals.get("state")
    saved = state.get("original_code") if isinstance(state, dict) else None
    make = getattr(type(saved), "to_code_object", None)
    code = make(saved) if make is not None else saved
    return code if isinstance(code, types.CodeType) else None


def _unknown() -> None:
    return None


def _forward(module: object) -> types.CodeType | None:
    """Return the code of a module's handwritten `forward`, or None for a graph module, whose `forward` is generated."""
    if not isinstance(module, torch.nn.Module) or isinstance(module, torch.fx.GraphModule):
        return None
    forward = getattr(type(module), "forward", None)
    return forward.__code__ if isinstance(forward, types.FunctionType) else None
