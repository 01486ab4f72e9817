"""Programs with graph breaks, closures, side effects and recompiles, and calls of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

COUNT = 0
SEEN: list[str] = []
OFFSET = 1.0


def ones(*size: int) -> torch.Tensor:
    return torch.ones(size)


def branches(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        x = x + 1
    else:
        x = x - 1
    if y.sum() > 0:
        y = y * 2
    return x * y


def prints(x: torch.Tensor) -> torch.Tensor:
    x = x + OFFSET
    print("half way")
    return x * 2


def stars(x: torch.Tensor, *rest: Any, flag: bool = False, **options: Any) -> torch.Tensor:
    torch._dynamo.graph_break()
    for other in rest:
        x = x + other
    return x * options.get("scale", 1) if flag else x


def defaults(x: torch.Tensor, n: int = 2, /, m: float = 0.5, *, k: int = 3) -> torch.Tensor:
    torch._dynamo.graph_break()
    return x * n + m - k


def counts(x: torch.Tensor) -> torch.Tensor:
    global COUNT
    COUNT += 1
    torch._dynamo.graph_break()
    return x * COUNT


def counts_and_asks(x: torch.Tensor) -> torch.Tensor:
    global COUNT
    COUNT += 1
    y = x * 2
    torch._dynamo.graph_break()
    return y + COUNT if COUNT % 2 else y - COUNT


def appends(x: torch.Tensor) -> torch.Tensor:
    SEEN.append("before")
    y = x * 2
    torch._dynamo.graph_break()
    SEEN.append("after")
    return y


def nested(x: torch.Tensor) -> torch.Tensor:
    def inner(v: torch.Tensor) -> torch.Tensor:
        torch._dynamo.graph_break()
        return v * 2

    return inner(x + 1) - 1


def with_block(x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        x = x * 2
        torch._dynamo.graph_break()
        x = x + 1
    return x


def guard(x: torch.Tensor) -> torch.Tensor:
    """Have the name of something that the text of a full code uses."""
    return tensor(x) + 1


def tensor(x: torch.Tensor) -> torch.Tensor:
    return x * 3


def make_closure(factor: float) -> Callable[[torch.Tensor], torch.Tensor]:
    calls = 0

    def closure(x: torch.Tensor) -> torch.Tensor:
        nonlocal calls
        calls += 1
        torch._dynamo.graph_break()
        return x * factor + calls

    return closure


def make_cell() -> Callable[[torch.Tensor], torch.Tensor]:
    def celled(x: torch.Tensor) -> torch.Tensor:
        y = x + 1

        def inner() -> torch.Tensor:
            return y * 2

        torch._dynamo.graph_break()
        y = y + 1
        return inner()

    return celled


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, scale: float = 2.0) -> torch.Tensor:
        x = self.linear(x)
        if x.sum() > 0:
            x = x * scale
        return torch.relu(x)


class Thing:
    def __init__(self) -> None:
        self.scale = 3

    def method(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.scale


def sized(x: torch.Tensor) -> torch.Tensor:
    return x * x.shape[0]


def both(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x.sum() * y


lambda_function = lambda x: x * 2 + 1  # noqa: E731


def many_branches(count: int) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return a function with `count` branches on the value of a tensor, one after the other."""
    lines = ["def many(x):"]
    for number in range(count):
        lines += [f"    if x.sum() > {number}:", f"        x = x + {number}"]
    lines += ["    return x * 2"]
    names: dict[str, Any] = {"torch": torch}
    exec("\n".join(lines), names)
    return names["many"]
