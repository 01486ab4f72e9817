"""Temporary eager runs of compiled functions."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import torch

from depyf.model.run import Unavailable


def run_eagerly() -> Callable[[], None] | Unavailable:
    """Make compiled functions run uncompiled from their next call on, in all threads; return what ends this."""
    set_stance = getattr(torch.compiler, "set_stance", None)
    if set_stance is None:
        return Unavailable("torch before 2.6 has no stance in which compiled functions run uncompiled")
    with _outside_of_compiled_code():
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
