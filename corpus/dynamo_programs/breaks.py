"""Graph breaks where control flow is: in branches, loops, `with`, `try`, calls and comprehensions."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch._dynamo import graph_break

from corpus.dynamo_programs.program import Programs

program = Programs()


@program()
def straight(x: Tensor) -> Tensor:
    return torch.sin(x) + 1


@program()
def once(x: Tensor) -> Tensor:
    y = x + 1
    graph_break()
    return x * y


@program()
def twice(x: Tensor) -> Tensor:
    y = x + 1
    graph_break()
    z = y * x
    graph_break()
    return x * y - z


@program()
def prints(x: Tensor) -> Tensor:
    y = torch.relu(x)
    print("sum", y.sum().item())
    return y * 2


@program(lambda: [(a * torch.ones(10), b * torch.ones(10)) for a in (1, -1) for b in (1, -1)])
def toy(a: Tensor, b: Tensor) -> Tensor:
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b


@program()
def tensor_if_else(x: Tensor) -> Tensor:
    y = x * 2
    if x.sum() > 0:
        y = y + 1
    else:
        y = y - 1
    return y * y


@program()
def tensor_if_chain(x: Tensor) -> Tensor:
    if x.sum() > 5:
        return x + 1
    elif x.sum() < -2:
        return x - 1
    return x * 3


@program()
def three_ifs(x: Tensor) -> Tensor:
    if x.sum() > 0:
        x = x + 1
    if x.mean() > 1:
        x = x * 2
    if x.max() < 0:
        x = -x
    return x


@program()
def breaks_in_one_arm(x: Tensor, flag: bool = True) -> Tensor:
    y = x + 1
    if flag:
        graph_break()
        y = y * 2
    else:
        y = y - 1
    return y + x


@program()
def and_or(x: Tensor) -> Tensor:
    if x.sum() > 0 and x.mean() > 0.5 or x.min() < -5:
        return x + 1
    return x - 1


@program()
def conditional_expression(x: Tensor) -> Tensor:
    y = x + 1 if x.sum() > 0 else x - 1
    return y * 2


@program()
def not_in_a_condition(x: Tensor) -> Tensor:
    if not x.sum() > 0:
        x = x * 2
    return x + 1


@program()
def for_loop(x: Tensor) -> Tensor:
    for i in range(3):
        x = x + i
        graph_break()
    return x


@program()
def for_over_a_list(x: Tensor) -> Tensor:
    total = x
    for each in [x, x + 1, x * 2]:
        graph_break()
        total = total + each
    return total


@program()
def for_with_else(x: Tensor) -> Tensor:
    for i in range(3):
        if x.sum() > 100:
            break
        x = x + i
    else:
        x = x * 2
    return x


@program()
def while_loop(x: Tensor) -> Tensor:
    while x.sum() < 20:
        x = x + 1
    return x


@program()
def while_with_break(x: Tensor) -> Tensor:
    n = 0
    while True:
        x = x + 1
        n += 1
        if x.sum() > 3:
            break
        if n > 4:
            return x - 1
    return x * n


@program()
def nested_loops(x: Tensor) -> Tensor:
    for i in range(2):
        for j in range(2):
            x = x + i * j
            graph_break()
        x = x * 2
    return x


@program()
def loop_then_break(x: Tensor) -> Tensor:
    for i in range(4):
        x = x + i
    graph_break()
    for i in range(2):
        x = x * (i + 1)
    return x


@program()
def enumerate_and_zip(x: Tensor) -> Tensor:
    for i, (a, b) in enumerate(zip([x, x + 1], [x * 2, x * 3])):
        graph_break()
        x = x + a * b + i
    return x


@contextlib.contextmanager
def noted(log: list[str]) -> Iterator[str]:
    log.append("in")
    try:
        yield "noted"
    finally:
        log.append("out")


class Doubling:
    def __init__(self) -> None:
        self.log: list[str] = []

    def __enter__(self) -> Doubling:
        self.log.append("in")
        return self

    def __exit__(self, *error: object) -> bool:
        self.log.append("out" if error[0] is None else "error")
        return True


@program()
def breaks_in_no_grad(x: Tensor) -> tuple[Tensor, bool]:
    with torch.no_grad():
        y = x * 2
        graph_break()
        z = y + torch.is_grad_enabled()
    return z + x, torch.is_grad_enabled()


@program()
def breaks_in_nested_with(x: Tensor) -> Tensor:
    with torch.no_grad():
        with torch.enable_grad():
            y = x * 2
            graph_break()
            y = y + 1
        z = y + torch.is_grad_enabled()
    return z * x


@program()
def breaks_in_a_user_s_with(x: Tensor) -> tuple[Tensor, list[str]]:
    log: list[str] = []
    with noted(log):
        x = x + 1
        graph_break()
        x = x * 2
    return x, log


@program()
def raises_in_a_user_s_with(x: Tensor) -> tuple[Tensor, list[str]]:
    manager = Doubling()
    with manager:
        x = x + 1
        graph_break()
        raise ValueError("swallowed")
    return x * 2, manager.log


@program()
def with_after_a_break(x: Tensor) -> tuple[Tensor, list[str]]:
    y = x + 1
    graph_break()
    manager = Doubling()
    with manager as entered:
        y = y * 2
    return y + len(entered.log), manager.log


@program()
def breaks_in_try(x: Tensor) -> Tensor:
    try:
        y = x + 1
        graph_break()
        y = y * 2
    except ValueError:
        y = x
    return y + 1


@program()
def breaks_in_try_finally(x: Tensor) -> tuple[Tensor, list[str]]:
    log = []
    try:
        y = x + 1
        graph_break()
        log.append("body")
    finally:
        log.append("finally")
    return y * 2, log


@program()
def catches_after_a_break(x: Tensor) -> Tensor:
    y = x + 1
    graph_break()
    try:
        if y.sum().item() > 0:
            raise KeyError("k")
    except KeyError as error:
        y = y + len(error.args)
    return y


@program()
def breaks_in_except(x: Tensor) -> Tensor:
    try:
        raise ValueError("no")
    except ValueError:
        x = x + 1
        graph_break()
        x = x * 2
    return x


def breaks_inside(x: Tensor) -> Tensor:
    x = x - 1
    graph_break()
    return x * 2


def breaks_deeper(x: Tensor) -> Tensor:
    y = breaks_inside(x + 3)
    return y - x


@program()
def breaks_in_a_callee(x: Tensor) -> Tensor:
    return breaks_inside(x * 3) + 1


@program()
def breaks_two_calls_down(x: Tensor) -> Tensor:
    y = breaks_deeper(x) + x
    return y * breaks_deeper(y)


@program()
def breaks_between_arguments(x: Tensor) -> Tensor:
    return torch.add(breaks_inside(x), breaks_inside(x + 1), alpha=2)


@program()
def breaks_in_an_expression(x: Tensor) -> Tensor:
    return (x + 1) * breaks_inside(x) + [x, breaks_inside(x * 2)][1]


@program()
def breaks_in_keyword_arguments(x: Tensor) -> Tensor:
    return torch.add(input=x, other=breaks_inside(x), alpha=3)


@program()
def item_and_int(x: Tensor) -> Tensor:
    n = int(x.sum().item())
    return x + n


@program()
def list_comprehension(x: Tensor) -> list[Tensor]:
    graph_break()
    return [x + i for i in range(3)]


@program()
def breaks_in_a_comprehension(x: Tensor) -> list[Tensor]:
    return [breaks_inside(x + i) for i in range(2)]


@program()
def dict_comprehension(x: Tensor) -> dict[str, Tensor]:
    y = x + 1
    graph_break()
    return {key: y * i for i, key in enumerate("ab")}


@program()
def assertion(x: Tensor) -> Tensor:
    y = x + 10
    assert y.sum() > 0, "positive"
    return y * 2


@program()
def unpacks_after_a_break(x: Tensor) -> tuple[Tensor, ...]:
    a, *rest = x.chunk(2)
    graph_break()
    b, c = a + 1, rest[0] * 2
    return b, c, *rest


@program()
def slices(x: Tensor) -> Tensor:
    y = x[1:3]
    graph_break()
    y[0:1] = 7
    return x + y.sum()


@program()
def formats(x: Tensor) -> tuple[Tensor, str]:
    y = x + 1
    graph_break()
    return y, f"{tuple(y.shape)!r:>10} {y.dim()}"


@program()
def none_and_constants(x: Tensor) -> tuple[Any, ...]:
    y = x + 1
    graph_break()
    return None, ..., 1.5, -0.0, 2j, b"b", "s", (1, (2, None)), frozenset({3}), y
