"""Compiles of a function before its first call (`fn.aot_compile`). torch gives most of their records no compile id.

Dynamo's capture has an id. The backend, the guards and the times come later, in the same call of torch's function.
"""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Mapping

import torch

from depyf.bytecode.records import dataclass
from depyf.torch.adapters.seams import OF_DYNAMO

_COMPILES_AHEAD = "aot_compile_fullgraph"
_PACKAGES = os.path.join("_dynamo", "package.py")
_CAPTURES = ("capture_output", "dynamo_output")
"""The local variables that hold Dynamo's capture; the second one in torch 2.9."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """One such compile in progress: its identity, its function, and Dynamo's code if it exists.

    `shown` is the user's code. For a module, Dynamo compiles torch's own call of it.
    """

    key: int
    shown: types.CodeType | None
    function: types.FunctionType | None
    new_code: types.CodeType | None


def in_progress() -> Ahead | None:
    """Return the function that this thread is compiling ahead of its calls, or None."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_name == _COMPILES_AHEAD and code.co_filename.startswith(OF_DYNAMO):
            function = frame.f_locals.get("fn")
            return Ahead(
                id(frame),
                _forward(frame.f_locals.get("model")),
                function if isinstance(function, types.FunctionType) else None,
                _new_code(frame.f_locals),
            )
        frame = frame.f_back
    return None


@dataclass(frozen=True, slots=True)
class Loaded:
    """A loaded compile of an earlier process: the user's code, Dynamo's code, and its position among them."""

    code: types.CodeType
    new_code: types.CodeType
    number: int


def loaded_in_progress() -> Loaded | None:
    """Return the compile that this thread is loading from a package, or None. A copy of its code runs."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "install" and frame.f_code.co_filename.endswith(_PACKAGES):
            return _loaded(frame.f_locals)
        frame = frame.f_back
    return None


def _loaded(values: Mapping[str, object]) -> Loaded | None:
    code, entry, guarded = (values.get(name) for name in ("target_code", "entry", "guarded_code"))
    serialized = getattr(guarded, "dynamo_code", None)
    make = getattr(type(serialized), "to_code_object", None)
    if not isinstance(code, types.CodeType) or make is None:
        return None
    number = next(
        (at for at, guarded_code in enumerate(getattr(entry, "guarded_codes", ())) if guarded_code is guarded), 0
    )
    return Loaded(code, make(serialized), number)


def _forward(model: object) -> types.CodeType | None:
    owner = getattr(model, "__self__", model)
    forward = getattr(type(owner), "forward", None) if isinstance(owner, torch.nn.Module) else None
    return forward.__code__ if isinstance(forward, types.FunctionType) else None


def _new_code(local_values: Mapping[str, object]) -> types.CodeType | None:
    captured = next((local_values[name] for name in _CAPTURES if name in local_values), None)
    bytecode = getattr(getattr(captured, "graph_capture_output", captured), "bytecode", None)
    return bytecode if isinstance(bytecode, types.CodeType) else None
