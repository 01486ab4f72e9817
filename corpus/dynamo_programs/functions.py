"""Functions and their variables: closures, cells, generators, defaults, keyword-only arguments, methods."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch._dynamo import graph_break

from corpus.dynamo_programs.program import Programs

program = Programs()


@program.made()
def reads_a_closure() -> tuple[Callable[..., Any], object]:
    scale = 2.5

    def f(x: Tensor) -> Tensor:
        y = x * scale
        graph_break()
        return y + scale

    return f, scale


@program.made()
def counts_in_a_closure() -> tuple[Callable[..., Any], object]:
    count = [0]
    calls = 0

    def f(x: Tensor) -> tuple[Tensor, int]:
        nonlocal calls
        calls += 1
        y = x + calls
        graph_break()
        calls += 10
        count[0] += calls
        return y * 2, calls

    return f, count


@program()
def makes_a_closure(x: Tensor) -> Tensor:
    y = x + 1

    def inner(z: Tensor) -> Tensor:
        return z * y

    graph_break()
    return inner(x) + y


@program()
def writes_a_cell_after_a_break(x: Tensor) -> Tensor:
    y = x + 1

    def inner() -> Tensor:
        return y * 2

    graph_break()
    y = y + 5
    return inner() + y


@program()
def writes_a_cell_before_a_break(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x + 1

    def inner() -> Tensor:
        nonlocal y
        y = y * 2
        return y

    a = inner()
    graph_break()
    b = inner()
    return a + y, b


@program()
def returns_a_closure_s_value(x: Tensor) -> tuple[Tensor, list[int]]:
    seen: list[int] = []

    def note(n: int) -> int:
        seen.append(n)
        return n

    y = x + note(1)
    graph_break()
    return y * note(2), seen


@program()
def two_closures_of_one_cell(x: Tensor) -> Tensor:
    n = 1

    def more() -> int:
        nonlocal n
        n += 1
        return n

    def read() -> int:
        return n * 10

    y = x + more()
    graph_break()
    return y + read() + more() + read()


@program()
def closure_over_a_parameter(x: Tensor, k: int = 3) -> Tensor:
    def inner(z: Tensor) -> Tensor:
        return z + k * x

    y = inner(x)
    graph_break()
    k = 7
    return inner(y)


@program()
def a_lambda_after_a_break(x: Tensor) -> Tensor:
    graph_break()
    double = lambda z, by=2: z * by  # noqa: E731
    return double(x) + double(x, by=3)  # type: ignore[no-untyped-call]


@program()
def passes_a_function_over_a_break(x: Tensor) -> Tensor:
    def scaled(z: Tensor, by: int = 2, *, plus: int = 1) -> Tensor:
        return z * by + plus

    graph_break()
    return scaled(x) + scaled(x, 3, plus=4)


@program()
def a_partial(x: Tensor) -> Tensor:
    scaled = functools.partial(torch.add, alpha=2)
    y = scaled(x, x)
    graph_break()
    return scaled(y, x)


def countdown(n: int) -> Iterator[int]:
    while n > 0:
        yield n
        n -= 1


@program()
def a_generator(x: Tensor) -> Tensor:
    for n in countdown(3):
        x = x + n
    return x


@program()
def a_generator_over_a_break(x: Tensor) -> Tensor:
    rest = countdown(3)
    x = x + next(rest)
    graph_break()
    for n in rest:
        x = x * n
    return x


@program()
def a_generator_expression(x: Tensor) -> Tensor:
    graph_break()
    return x + sum(i * i for i in range(4))


@program()
def an_iterator_over_a_break(x: Tensor) -> Tensor:
    rest = iter([1, 2, 3])
    x = x + next(rest)
    graph_break()
    return x * next(rest) + next(rest)


@program(lambda: [(torch.ones(3),), (torch.ones(3), 4, 1.5), (torch.ones(3), 2)])
def defaults(x: Tensor, k: int = 2, m: float = 0.5) -> Tensor:
    y = x * k
    graph_break()
    return y + m


def only_named(x: Tensor, *, by: int = 3, plus: Tensor | None = None) -> Tensor:
    y = x * by
    graph_break()
    return y if plus is None else y + plus


@program()
def keyword_only(x: Tensor) -> Tensor:
    return only_named(x) + only_named(x, by=4, plus=x)


@program(lambda: [(torch.ones(3),), (torch.ones(3), torch.ones(3), 5)])
def stars(x: Tensor, *others: Any, **named: Any) -> tuple[Tensor, int]:
    y = x + len(others)
    graph_break()
    for each in others:
        y = y + each
    return y, len(named)


@program()
def calls_with_stars(x: Tensor) -> Tensor:
    arguments, named = (x, x + 1), {"alpha": 2}
    graph_break()
    return torch.add(*arguments, **named)


@program(lambda: [(torch.ones(3), 2), (torch.ones(3), 3)])
def positional_only(x: Tensor, n: int, /, k: int = 1) -> Tensor:
    y = x + n
    graph_break()
    return y * k + n


@dataclass
class Point:
    x: Tensor
    n: int = 1

    def moved(self, by: Tensor) -> Point:
        graph_break()
        return Point(self.x + by, self.n + 1)


@program()
def a_dataclass(x: Tensor) -> tuple[Tensor, int]:
    point = Point(x + 1)
    point = point.moved(x)
    return point.x * 2, point.n


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.linear = nn.Linear(4, 4)
        self.calls = 0

    def forward(self, x: Tensor, scale: float = 1.0) -> Tensor:
        self.calls += 1
        y = self.linear(x) * scale
        graph_break()
        return torch.relu(y) + self.calls


MODEL = Model()


@program(lambda: [(torch.ones(2, 4),), (torch.ones(2, 4),)], lambda: MODEL.calls)
def a_module(x: Tensor) -> Tensor:
    return MODEL(x) + MODEL(x, scale=2.0)


class Stack(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.ModuleList([Model() for _ in range(2)])

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


STACK = Stack()


@program(lambda: [(torch.ones(2, 4),)])
def modules_in_a_list(x: Tensor) -> Tensor:
    return STACK(x)


def recurses(x: Tensor, n: int) -> Tensor:
    if n == 0:
        graph_break()
        return x
    return recurses(x + n, n - 1) * 2


@program()
def a_recursion(x: Tensor) -> Tensor:
    return recurses(x, 2)


def with_default(x: Tensor, more: list[int] = [1, 2]) -> Tensor:  # noqa: B006
    graph_break()
    return x + len(more)


@program()
def a_default_that_is_shared(x: Tensor) -> Tensor:
    return with_default(x) + with_default(x, [])


@program()
def annotated_inner(x: Tensor) -> Tensor:
    def inner(z: Tensor, n: int = 2) -> Tensor:
        return z * n

    graph_break()
    return inner(x)
