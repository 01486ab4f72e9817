"""Notifications that a program takes a method of the original module off a compiled module."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable
from typing import Any

import torch._dynamo

from depyf.model.run import Unavailable
from depyf.torch.adapters.unseen import left_alone, unseen

Listener = Callable[[object, str, types.MethodType, types.FrameType], None]
"""Receives the original module, the name, the method, and the frame that takes it. It must not raise."""

_GET = "__getattr__"


def watch_methods(listener: Listener) -> Callable[[], None] | Unavailable:
    """Call `listener` for every method that `OptimizedModule` takes from the original module; return what ends this."""
    cls: Any = getattr(torch._dynamo, "OptimizedModule", None)
    get = vars(cls).get(_GET) if cls is not None else None
    if not isinstance(get, types.FunctionType):
        return Unavailable("this torch passes methods of compiled modules on in another way")
    tell = unseen(listener)

    @functools.wraps(get)
    def heard(self: Any, name: str) -> object:
        attribute = get(self, name)
        if type(attribute) is types.MethodType and attribute.__self__ is vars(self).get("_modules", {}).get(
            "_orig_mod"
        ):
            tell(attribute.__self__, name, attribute, sys._getframe(1))
        return attribute

    setattr(cls, _GET, left_alone(heard))

    def end() -> None:
        if vars(cls).get(_GET) is heard:
            setattr(cls, _GET, get)

    return end


def is_compiled(function: object) -> bool:
    """Return whether `torch.compile` made a function, or a method's function."""
    plain = function.__func__ if isinstance(function, types.MethodType) else function
    if isinstance(plain, torch._dynamo.OptimizedModule):
        return True
    attributes = getattr(plain, "__dict__", {})
    return "_torchdynamo_orig_callable" in attributes and not attributes.get("_torchdynamo_disable", False)


def is_compiled_module(module: torch.nn.Module) -> bool:
    """Return whether calls of a module run compiled code: by `torch.compile` or by its own method `compile`."""
    if isinstance(module, torch._dynamo.OptimizedModule) or getattr(module, "_compiled_call_impl", None) is not None:
        return True
    return is_compiled(vars(module).get("forward"))
