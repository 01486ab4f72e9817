"""The stance of the compiler: temporary eager runs for depyf, and notifications of calls under a program's stance."""

from __future__ import annotations

import contextlib
import functools
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._dynamo import decorators, eval_frame

from depyf.model.bypass import FAIL_ON_RECOMPILE, STANCES
from depyf.model.run import Unavailable
from depyf.torch.adapters.tracebacks import leave_out_own_frame, own_frames_stay
from depyf.torch.adapters.unseen import left_alone

_SET, _CALL = "_set_stance", "_callback_from_stance"
_own: list[None] = []
"""Has an item while depyf itself sets a stance."""


def run_eagerly() -> Callable[[], None] | Unavailable:
    """Make compiled functions run uncompiled from their next call on, in all threads; return what ends this."""
    set_stance = getattr(torch.compiler, "set_stance", None)
    if set_stance is None:
        return Unavailable("torch before 2.6 has no stance in which compiled functions run uncompiled")
    with _outside_of_compiled_code(), own_stance():
        stance = set_stance("force_eager")
        stance.__enter__()

    def end() -> None:
        with _outside_of_compiled_code():
            stance.__exit__(None, None, None)

    return end


@contextlib.contextmanager
def _outside_of_compiled_code() -> Iterator[None]:
    """Make Dynamo inspect no frame. While it inspects one, as when it reports a run, it cannot change its stance."""
    from torch._C._dynamo.eval_frame import set_eval_frame

    callback = set_eval_frame(None)
    try:
        yield
    finally:
        set_eval_frame(callback)


def is_switched_off() -> bool:
    """Return whether the program has switched off all compilation."""
    return bool(getattr(torch._dynamo.config, "disable", False))


@contextlib.contextmanager
def own_stance() -> Iterator[None]:
    """Hide a stance that depyf sets from the listeners."""
    _own.append(None)
    try:
        yield
    finally:
        _own.pop()


Listener = Callable[..., None]
"""Receives `called` with the stance, the function and the calling frame, before the call; `raised` with the function,
the frame and the exception that ends a call under `fail_on_recompile`; and `ended`. It must not raise."""


def watch_stances(listener: Listener) -> Callable[[], None] | Unavailable:
    """Report the calls of compiled functions under a stance; return what ends this."""
    module: Any = eval_frame
    change, callback_from = getattr(decorators, _SET, None), getattr(module, _CALL, None)
    if not isinstance(change, types.FunctionType) or not isinstance(callback_from, types.FunctionType):
        return Unavailable("this torch has no stances (before 2.6), or keeps them elsewhere")

    heard = left_alone(_hearing(callback_from, listener))

    def look(stance: Any) -> None:
        is_watched = stance.stance in STANCES and not _own
        if not is_watched and getattr(module, _CALL) is heard:
            listener("ended")
        setattr(module, _CALL, heard if is_watched else callback_from)

    @functools.wraps(change)
    def changed(stance: Any) -> Any:
        prior = change(stance)
        look(stance)
        return prior

    setattr(decorators, _SET, changed)
    look(module._stance)

    def end() -> None:
        if getattr(module, _CALL) is heard:
            listener("ended")
            setattr(module, _CALL, callback_from)
        if getattr(decorators, _SET) is changed:
            setattr(decorators, _SET, change)

    return end


def _hearing(callback_from: Callable[[Any], Any], listener: Listener) -> Callable[[Any], Any]:
    """Return torch's function that asks for the stance in each call, which reports the calls of compiled functions.

    Before 2.7 torch calls it where Dynamo inspects every frame.
    """
    module: Any = eval_frame

    @functools.wraps(callback_from)
    def heard(callback: Any) -> Any:
        callback_result = callback_from(callback)
        if callback is None or callback is False:
            return callback_result
        stance, wrapper = module._stance.stance, sys._getframe(1)
        function = wrapper.f_locals.get("fn")
        listener("called", stance, function, wrapper.f_back)
        if stance != FAIL_ON_RECOMPILE or own_frames_stay():
            return callback_result
        return _telling(callback_result, listener, function, wrapper.f_back)

    return heard


def _telling(
    callback: Any, listener: Listener, function: object, caller: types.FrameType | None
) -> Callable[..., object]:
    """Return torch's callback, which reports its exception. It stays the same callback for torch's cache."""

    @functools.wraps(callback)
    def telling(*args: Any, **kwargs: Any) -> object:
        try:
            return callback(*args, **kwargs)
        except RuntimeError as error:
            listener("raised", function, caller, error)
            leave_out_own_frame(error)
            raise

    return telling
