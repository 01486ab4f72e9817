"""Sizes and numbers that may change: relations of sizes, at the end of the guards or compiled to C++."""

from __future__ import annotations

import torch

from corpus.guards.program import Change, Program, Value

CPP: dict[str, Value] = {"enable_cpp_symbolic_shape_guards": True}


def ones(*size: int) -> torch.Tensor:
    return torch.ones(size)


def branch(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x.sum() + y.view(-1).sum() if x.shape[0] > 3 else x * y


def divides(x: torch.Tensor, n: int) -> torch.Tensor:
    return x.view(n, -1).sum(1) if x.shape[0] % n == 0 else x


def halves(x: torch.Tensor) -> torch.Tensor:
    return x[: x.shape[0] // 2] * (2 if x.shape[0] * 3 <= 30 else 1)


def scaled(x: torch.Tensor, factor: float, count: int) -> torch.Tensor:
    return x * factor + count if count < 10 else x


def chained(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.cat([x, y]) if x.shape[0] == 2 * y.shape[0] else x


BRANCH_CHANGES = (
    Change("larger", lambda: (ones(9, 4), ones(9, 4))),
    Change("too small", lambda: (ones(3, 2), ones(3, 2))),
    Change("just large enough", lambda: (ones(4, 2), ones(4, 2))),
    Change("sizes differ", lambda: (ones(5, 2), ones(6, 2))),
    Change("second size differs", lambda: (ones(5, 2), ones(5, 3))),
    Change("second size one", lambda: (ones(5, 1), ones(5, 1))),
    Change("transposed", lambda: (ones(2, 5).t(), ones(5, 2))),
    Change("one dimension", lambda: (ones(5), ones(5))),
    Change("not contiguous", lambda: (ones(5, 8)[:, ::2], ones(5, 4))),
    Change("float64", lambda: (ones(5, 2).double(), ones(5, 2))),
)
NUMBER_CHANGES = (
    Change("other float", lambda: (ones(3), 2.5, 3)),
    Change("int for float", lambda: (ones(3), 2, 3)),
    Change("float for int", lambda: (ones(3), 1.5, 4.0)),
    Change("bool for int", lambda: (ones(3), 1.5, True)),
    Change("large int", lambda: (ones(3), 1.5, 11)),
    Change("other int", lambda: (ones(3), 1.5, 7)),
    Change("nan", lambda: (ones(3), float("nan"), 4)),
    Change("none", lambda: (ones(3), None, 4)),
)

PROGRAMS = (
    Program("branch", branch, lambda: (ones(5, 2), ones(5, 2)), BRANCH_CHANGES, {"dynamic": True}),
    Program("branch_in_cpp", branch, lambda: (ones(5, 2), ones(5, 2)), BRANCH_CHANGES, {"dynamic": True}, CPP),
    Program(
        "divides",
        divides,
        lambda: (ones(12), 3),
        (
            Change("other divisor", lambda: (ones(12), 4)),
            Change("no divisor", lambda: (ones(12), 5)),
            Change("multiple", lambda: (ones(24), 3)),
            Change("float", lambda: (ones(12), 3.0)),
            Change("one", lambda: (ones(12), 1)),
        ),
        {"dynamic": True},
    ),
    Program(
        "halves",
        halves,
        lambda: (ones(10),),
        (
            Change("eleven", lambda: (ones(11),)),
            Change("nine", lambda: (ones(9),)),
            Change("two", lambda: (ones(2),)),
            Change("one", lambda: (ones(1),)),
        ),
        {"dynamic": True},
    ),
    Program("numbers", scaled, lambda: (ones(3), 1.5, 4), NUMBER_CHANGES, {"dynamic": True}),
    Program("numbers_static", scaled, lambda: (ones(3), 1.5, 4), NUMBER_CHANGES, {"dynamic": False}),
    Program("numbers_in_cpp", scaled, lambda: (ones(3), 1.5, 4), NUMBER_CHANGES, {"dynamic": True}, CPP),
    Program(
        "chained",
        chained,
        lambda: (ones(8), ones(4)),
        (
            Change("twice", lambda: (ones(10), ones(5))),
            Change("not twice", lambda: (ones(9), ones(4))),
            Change("the same", lambda: (ones(4), ones(4))),
        ),
        {"dynamic": True},
    ),
)
