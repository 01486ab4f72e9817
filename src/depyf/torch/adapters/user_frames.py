"""Leave the frames of torch's default device out of the stacks of a graph's nodes.

before: with `torch.set_default_device("cuda")`, each node's innermost frame is `return func(*args, **kwargs)` in
    `torch/utils/_device.py`, because every operation passes through its `__torch_function__`
after: it is the user's line, as without a default device

torch leaves out the frames of `torch/nn/modules` in the same way.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from torch._dynamo import symbolic_convert
from torch.utils import _device

from depyf.model.run import Unavailable
from depyf.torch.adapters.unseen import left_alone

_METHOD = "is_co_filename_from_nn_modules"
"""Dynamo's method, which decides for the frame of an inlined call whether it is left out."""


def leave_out_default_device() -> Callable[[], None] | Unavailable:
    """Make Dynamo leave out these frames until the returned function is called."""
    owner = symbolic_convert.InstructionTranslatorBase
    original = getattr(owner, _METHOD, None)
    if not inspect.isfunction(original):
        return Unavailable(f"Dynamo has no {_METHOD}")
    file = _device.__file__

    @left_alone
    def is_left_out(translator: Any) -> bool:
        return translator.f_code.co_filename == file or bool(original(translator))

    setattr(owner, _METHOD, is_left_out)

    @left_alone
    def undo() -> None:
        if getattr(owner, _METHOD, None) is is_left_out:
            setattr(owner, _METHOD, original)

    return undo
