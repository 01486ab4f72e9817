"""What an argument may be instead of what it was compiled for, and what may be set around a call."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor


class Subclassed(Tensor):
    """A tensor of another type."""


# The other argument stays as it was: ten floats.
ARGUMENTS: dict[str, Callable[[Tensor], object]] = {
    "as it was": lambda a: a,
    "another value": lambda a: a * 3,
    "dtype float64": lambda a: a.double(),
    "dtype int64": lambda a: a.long(),
    "dtype bool": lambda a: a > 0,
    "size 9": lambda a: a[:9].clone(),
    "size 1": lambda a: a[:1].clone(),
    "size 0": lambda a: a[:0].clone(),
    "two dimensions": lambda a: a.view(2, 5),
    "no dimension": lambda a: a[0].clone(),
    "stride 2": lambda a: torch.stack([a, a], 1)[:, 0],
    "stride 0": lambda a: a[:1].expand(10),
    "an offset": lambda a: torch.cat([a, a])[5:15],
    "requires grad": lambda a: a.clone().requires_grad_(),
    "of a graph": lambda a: a.clone().requires_grad_() * 2,
    "a parameter": lambda a: torch.nn.Parameter(a.clone()),
    "a parameter without grad": lambda a: torch.nn.Parameter(a.clone(), requires_grad=False),
    "a subclass": lambda a: a.as_subclass(Subclassed),
    "an attribute": lambda a: _with_attribute(a.clone()),
    "on meta": lambda a: a.to("meta"),
    "sparse": lambda a: a.to_sparse(),
    "complex": lambda a: a.to(torch.complex64),
    "conjugated": lambda a: a.to(torch.complex64).conj(),
    "of inference": lambda a: _of_inference(a),
    "an array": lambda a: np.ones(10, dtype=np.float32),
    "a list": lambda a: a.tolist(),
    "a float": lambda a: 1.0,
    "None": lambda a: None,
}


def _with_attribute(a: Tensor) -> Tensor:
    a.mine = 1
    return a


def _of_inference(a: Tensor) -> Tensor:
    with torch.inference_mode():
        return a.clone()


@contextlib.contextmanager
def _deterministic() -> Iterator[None]:
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


@contextlib.contextmanager
def _default_dtype() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


@contextlib.contextmanager
def _threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(before + 1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


SETTINGS: dict[str, Callable[[], contextlib.AbstractContextManager[object]]] = {
    "as it was": contextlib.nullcontext,
    "no_grad": torch.no_grad,
    "inference_mode": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu"),
    "deterministic": _deterministic,
    "default dtype": _default_dtype,
    "threads": _threads,
    "default device": lambda: torch.device("meta"),
    "no __torch_function__": torch._C.DisableTorchFunction,
}
