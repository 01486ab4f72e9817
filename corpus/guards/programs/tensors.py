"""Tensors: type, dtype, layout, device, keys, sizes, strides, gradients, marks, and which of them are the same."""

from __future__ import annotations

import numpy as np
import torch

from corpus.guards.program import Change, Program, Value, marked

Arguments = tuple[Value, ...]


class Scaled(torch.Tensor):
    """A subclass that changes nothing."""


class Pair(torch.Tensor):
    """A wrapper around two tensors, which Dynamo traces through."""

    left: torch.Tensor
    right: torch.Tensor

    @staticmethod
    def __new__(cls: type[Pair], left: torch.Tensor, right: torch.Tensor, tag: str = "t") -> Pair:
        pair: Pair = torch.Tensor._make_wrapper_subclass(
            cls, left.shape, dtype=left.dtype, requires_grad=left.requires_grad
        )
        return pair

    def __init__(self, left: torch.Tensor, right: torch.Tensor, tag: str = "t") -> None:
        self.left, self.right, self.tag = left, right, tag

    def __tensor_flatten__(self) -> tuple[list[str], dict[str, str]]:
        return ["left", "right"], {"tag": self.tag}

    @staticmethod
    def __tensor_unflatten__(inner: dict[str, torch.Tensor], meta: dict[str, str], *geometry: object) -> Pair:
        return Pair(inner["left"], inner["right"], meta["tag"])

    @classmethod
    def __torch_dispatch__(cls, func: Value, types: Value, args: Value = (), kwargs: Value = None) -> Value:
        def side(name: str) -> Value:
            return func(*[getattr(a, name) if isinstance(a, Pair) else a for a in args], **(kwargs or {}))

        left, right = side("left"), side("right")
        tag = next(a.tag for a in args if isinstance(a, Pair))
        return Pair(left, right, tag) if isinstance(left, torch.Tensor) else left


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y


def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def with_gradient(x: torch.Tensor) -> torch.Tensor:
    return x * 2 if x.grad is None else x.grad * 3


def from_array(a: Value) -> Value:
    return np.sin(a) + 1


def ones(*size: int) -> torch.Tensor:
    return torch.ones(size)


def same_twice() -> Arguments:
    x = ones(3)
    return x, x


def inference() -> Arguments:
    with torch.inference_mode():
        return ones(2, 3), ones(2, 3)


def with_grad() -> Arguments:
    x = ones(3).requires_grad_()
    (x * 2).sum().backward()
    return (x,)


def functorch_tensor() -> Arguments:
    return (torch._C._functorch._add_batch_dim(ones(4, 3), 0, 1),)


dynamic, static = torch._dynamo.mark_dynamic, torch._dynamo.mark_static
weak = torch._dynamo.maybe_mark_dynamic

PROGRAMS = (
    Program(
        "add",
        add,
        lambda: (ones(2, 3), ones(2, 3)),
        (
            Change("float64", lambda: (ones(2, 3).double(), ones(2, 3).double())),
            Change("one is float16", lambda: (ones(2, 3), ones(2, 3).half())),
            Change("integers", lambda: (ones(2, 3).long(), ones(2, 3))),
            Change("another size", lambda: (ones(2, 4), ones(2, 4))),
            Change("one more dimension", lambda: (ones(1, 2, 3), ones(2, 3))),
            Change("no dimension", lambda: (torch.tensor(1.0), ones(2, 3))),
            Change("empty", lambda: (ones(0, 3), ones(0, 3))),
            Change("transposed", lambda: (ones(3, 2).t(), ones(2, 3))),
            Change("strided view", lambda: (ones(2, 6)[:, ::2], ones(2, 3))),
            Change("expanded", lambda: (ones(3).expand(2, 3), ones(2, 3))),
            Change("offset view", lambda: (ones(3, 3)[1:], ones(2, 3))),
            Change("requires grad", lambda: (ones(2, 3).requires_grad_(), ones(2, 3))),
            Change("parameter", lambda: (torch.nn.Parameter(ones(2, 3)), ones(2, 3))),
            Change("frozen parameter", lambda: (torch.nn.Parameter(ones(2, 3), False), ones(2, 3))),
            Change("subclass", lambda: (ones(2, 3).as_subclass(Scaled), ones(2, 3))),
            Change("both the same", lambda: (lambda x: (x, x))(ones(2, 3))),
            Change("shared storage", lambda: (lambda x: (x, x.view(2, 3)))(ones(2, 3))),
            Change("number", lambda: (1.0, ones(2, 3))),
            Change("none", lambda: (None, ones(2, 3))),
            Change("array", lambda: (np.ones((2, 3), np.float32), ones(2, 3))),
            Change("list", lambda: ([1.0], ones(2, 3))),
            Change("meta device", lambda: (torch.ones(2, 3, device="meta"), ones(2, 3))),
            Change("sparse", lambda: (ones(2, 3).to_sparse(), ones(2, 3))),
            Change("sparse rows", lambda: (ones(2, 3).to_sparse_csr(), ones(2, 3))),
            Change("complex", lambda: (ones(2, 3).cfloat(), ones(2, 3))),
            Change("conjugated", lambda: (ones(2, 3).cfloat().conj(), ones(2, 3))),
            Change("quantized", lambda: (torch.quantize_per_tensor(ones(2, 3), 1.0, 0, torch.qint8), ones(2, 3))),
            Change("inference tensors", inference),
            Change("inference mode around", None, torch.inference_mode),
            Change("marked dynamic", lambda: (marked(ones(2, 3), dynamic, 0), ones(2, 3))),
            Change("marked static", lambda: (marked(ones(2, 3), static, 0), ones(2, 3))),
            Change("maybe dynamic", lambda: (ones(2, 3), marked(ones(2, 3), weak, 1))),
            Change("other values", lambda: (ones(2, 3) * 7, -ones(2, 3))),
        ),
    ),
    Program(
        "marked",
        double,
        lambda: (marked(ones(4, 5), dynamic, 0, 1),),
        (
            Change("not marked", lambda: (ones(4, 5),)),
            Change("one of them", lambda: (marked(ones(4, 5), dynamic, 1),)),
            Change("other size", lambda: (marked(ones(7, 9), dynamic, 0),)),
            Change("weakly", lambda: (marked(ones(7, 9), weak, 0),)),
            Change("static", lambda: (marked(ones(4, 5), static, 0),)),
            Change("size one", lambda: (ones(1, 5),)),
            Change("empty", lambda: (ones(0, 5),)),
        ),
    ),
    Program(
        "marked_one",
        double,
        lambda: (marked(ones(4, 5), dynamic, 0),),
        (
            Change("both", lambda: (marked(ones(4, 5), dynamic, 0, 1),)),
            Change("the other", lambda: (marked(ones(4, 5), dynamic, 1),)),
            Change("other second size", lambda: (ones(4, 6),)),
        ),
    ),
    Program(
        "marked_unbacked",
        double,
        lambda: (marked(ones(4, 5), torch._dynamo.decorators.mark_unbacked, 0),),
        (
            Change("not marked", lambda: (ones(4, 5),)),
            Change("other size", lambda: (marked(ones(9, 5), torch._dynamo.decorators.mark_unbacked, 0),)),
            Change("dynamic instead", lambda: (marked(ones(4, 5), dynamic, 0),)),
        ),
    ),
    Program(
        "subclass",
        double,
        lambda: (ones(3).as_subclass(Scaled),),
        (
            Change("plain", lambda: (ones(3),)),
            Change("other size", lambda: (ones(4).as_subclass(Scaled),)),
            Change("parameter", lambda: (torch.nn.Parameter(ones(3)),)),
        ),
    ),
    Program(
        "wrapper_subclass",
        double,
        lambda: (Pair(ones(3), ones(3)),),
        (
            Change("other tag", lambda: (Pair(ones(3), ones(3), "u"),)),
            Change("other dtype inside", lambda: (Pair(ones(3), ones(3).double()),)),
            Change("other size", lambda: (Pair(ones(4), ones(4)),)),
            Change("plain", lambda: (ones(3),)),
        ),
    ),
    Program(
        "gradient",
        with_gradient,
        lambda: (ones(3).requires_grad_(),),
        (
            Change("with gradient", with_grad),
            Change("not required", lambda: (ones(3),)),
            Change("other size", lambda: (ones(4).requires_grad_(),)),
        ),
    ),
    Program(
        "gradient_there",
        with_gradient,
        with_grad,
        (
            Change("no gradient", lambda: (ones(3).requires_grad_(),)),
            Change("not required", lambda: (ones(3),)),
        ),
    ),
    Program(
        "array",
        from_array,
        lambda: (np.ones(3),),
        (
            Change("float32", lambda: (np.ones(3, np.float32),)),
            Change("other size", lambda: (np.ones(4),)),
            Change("tensor", lambda: (ones(3),)),
            Change("strided", lambda: (np.ones(6)[::2],)),
            Change("list", lambda: ([1.0, 2.0, 3.0],)),
            Change("default device", None, lambda: torch.device("cpu")),
        ),
    ),
    Program(
        "same_twice",
        add,
        same_twice,
        (
            Change("different", lambda: (ones(3), ones(3))),
            Change("views", lambda: (lambda x: (x, x.view(3)))(ones(3))),
            Change("other size, same", lambda: (lambda x: (x, x))(ones(4))),
        ),
    ),
    Program(
        "meta",
        double,
        lambda: (torch.ones(2, device="meta"),),
        (Change("cpu", lambda: (ones(2),)), Change("other size", lambda: (torch.ones(3, device="meta"),))),
    ),
    Program(
        "conjugated",
        double,
        lambda: (ones(2).cfloat().conj(),),
        (Change("plain complex", lambda: (ones(2).cfloat(),)), Change("real", lambda: (ones(2),))),
    ),
    Program(
        "inference_tensor",
        double,
        lambda: inference()[:1],
        (Change("ordinary", lambda: (ones(2, 3),)), Change("inference mode around", None, torch.inference_mode)),
    ),
)
