"""The code that Dynamo puts into its cache: its own, or that of the program's last bytecode hook.

depyf is no bytecode hook itself, because torch names and times each hook in its trace and its compile times.
"""

from __future__ import annotations

import threading
import types
from collections.abc import Callable
from typing import TypeAlias

from torch._dynamo import convert_frame

from depyf.model.run import Unavailable

Listener: TypeAlias = Callable[[types.CodeType, types.CodeType], object]
"""Receives the original code and the code that will run."""

_ADD = "add"
_LISTENERS: list[Listener] = []
_LOCK = threading.Lock()


def watch_code(listener: Listener) -> Callable[[], None] | Unavailable:
    """Call `listener` in each compile of any thread; return the function that ends this. `listener` must not raise.

    Dynamo adds the code to `output_codes`, by which it knows its own, right after the last hook.
    """
    codes, originals = (getattr(convert_frame, name, None) for name in ("output_codes", "orig_code_map"))
    if originals is None or not callable(getattr(type(codes), _ADD, None)):
        return Unavailable("this torch keeps the code that it makes elsewhere")
    with _LOCK:
        _LISTENERS.append(listener)
        setattr(codes, _ADD, _add_and_tell)

    def end() -> None:
        with _LOCK:
            _LISTENERS.remove(listener)
            if not _LISTENERS and vars(codes).get(_ADD) is _add_and_tell:
                delattr(codes, _ADD)

    return end


def _add_and_tell(code: types.CodeType) -> None:
    codes = convert_frame.output_codes
    type(codes).add(codes, code)
    original = convert_frame.orig_code_map.get(code)
    for listener in tuple(_LISTENERS) if original is not None else ():
        listener(original, code)
