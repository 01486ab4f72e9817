"""Values that are no tensors: in each place where one may stand, a change of each sort."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from corpus.advice.pair import Run, pair

Use = Callable[[Any, Any], Any]


class Order(enum.Enum):
    """A constant that is neither a number nor a string."""

    AS_IS = 1
    FLIPPED = 2


def multiply(x: Any, value: Any) -> Any:
    return x * value  # here


def by_name(x: Any, value: Any) -> Any:
    return x * (2.0 if value == "double" else 3.0)  # here


def by_flag(x: Any, value: Any) -> Any:
    return x * 2 if value else x * 3  # here


def with_where(x: Any, value: Any) -> Any:
    return torch.where(value, x * 2, x * 3)


def add_if_there(x: Any, value: Any) -> Any:
    return x * 2 if value is None else x * 2 + value  # here


def add(x: Any, value: Any) -> Any:
    return x * 2 + value


def total(x: Any, value: Any) -> Any:
    return x * sum(value)  # here


def total_of_stacked(x: Any, value: Any) -> Any:
    return x * value.sum()


def in_order(x: Any, value: Any) -> Any:
    return (x.flip(0) if value is Order.FLIPPED else x) * 2  # here


def twice(x: Any, value: Any) -> Any:
    return x * 2


def call(x: Any, value: Any) -> Any:
    return value(x)  # here


@dataclass(frozen=True)
class Change:
    """Two values, how they are used, and the same with the advice followed: new values of `x` and of what is held."""

    values: Callable[[], list[Any]]
    use: Use
    fixed_use: Use
    fixed: Callable[[Any, Any], tuple[Any, Any]]


def _stacked(x: Any, value: Any) -> tuple[Any, Any]:
    stacked = torch.stack([torch.tensor(number) for number in value])
    torch._dynamo.mark_dynamic(stacked, 0)
    return x, stacked


def _once(x: Any) -> Any:
    return x * 2


CHANGES = {
    "int": Change(lambda: [5, 7, 12], multiply, multiply, lambda x, value: (x, torch.tensor(value))),
    "float": Change(lambda: [0.5, 0.25, 0.75], multiply, multiply, lambda x, value: (x, torch.tensor(value))),
    "string": Change(
        lambda: ["double", "triple"],
        by_name,
        multiply,
        lambda x, value: (x, torch.tensor({"double": 2.0, "triple": 3.0}[value])),
    ),
    "bool": Change(lambda: [True, False], by_flag, with_where, lambda x, value: (x, torch.tensor(value))),
    "none": Change(
        lambda: [None, torch.ones(4)],
        add_if_there,
        add,
        lambda x, value: (x, torch.zeros(4) if value is None else value),
    ),
    "type": Change(lambda: [[2.0, 3.0], (2.0, 3.0)], total, total, lambda x, value: (x, list(value))),
    "length": Change(lambda: [[2.0, 3.0], [2.0, 3.0, 4.0]], total, total_of_stacked, _stacked),
    "constant": Change(
        lambda: [Order.AS_IS, Order.FLIPPED],
        in_order,
        twice,
        lambda x, value: (x.flip(0) if value is Order.FLIPPED else x, 0),
    ),
    "function": Change(lambda: [lambda x: x * 2, lambda x: 2 * x], call, call, lambda x, value: (x, _once)),
}

Step = tuple[Any, Any]


def _as_argument(use: Use, steps: list[Step]) -> list[Any]:
    def run(x: Any, value: Any) -> Any:
        return use(x, value)

    compiled = torch.compile(run, backend="eager")
    return [compiled(x, value) for x, value in steps]


def _as_element(use: Use, steps: list[Step]) -> list[Any]:
    def run(x: Any, options: Any) -> Any:
        return use(x, options["value"])

    compiled = torch.compile(run, backend="eager")
    return [compiled(x, {"value": value}) for x, value in steps]


def _on_module(use: Use, steps: list[Step]) -> list[Any]:
    class Module(torch.nn.Module):
        value: Any = None

        def forward(self, x: Any) -> Any:
            return use(x, self.value)

    module = Module()
    compiled = torch.compile(module, backend="eager")
    results = []
    for x, value in steps:
        if isinstance(value, torch.Tensor) and value.dim() == 0 and isinstance(module.value, torch.Tensor):
            module.value.fill_(value)
        else:
            module.value = value
        results.append(compiled(x))
    return results


class Options:
    """An object that is no module."""

    value: Any = None


def _on_object(use: Use, steps: list[Step]) -> list[Any]:
    def run(x: Any, options: Any) -> Any:
        return use(x, options.value)

    compiled = torch.compile(run, backend="eager")
    options = Options()
    results = []
    for x, value in steps:
        options.value = value
        results.append(compiled(x, options))
    return results


VALUE: Any = None


def _as_global(use: Use, steps: list[Step]) -> list[Any]:
    global VALUE

    def run(x: Any) -> Any:
        return use(x, VALUE)

    compiled = torch.compile(run, backend="eager")
    results = []
    for x, value in steps:
        VALUE = value
        results.append(compiled(x))
    return results


def _in_closure(use: Use, steps: list[Step]) -> list[Any]:
    value: Any = None

    def run(x: Any) -> Any:
        return use(x, value)

    compiled = torch.compile(run, backend="eager")
    results = []
    for x, step_size in steps:
        value = step_size
        results.append(compiled(x))
    return results


PLACES: dict[str, Callable[[Use, list[Step]], list[Any]]] = {
    "argument": _as_argument,
    "element": _as_element,
    "module": _on_module,
    "object": _on_object,
    "global": _as_global,
    "closure": _in_closure,
}


def _shown(place: str, change: Change) -> list[Any]:
    return PLACES[place](change.use, [(torch.arange(4.0), value) for value in change.values()])


def _fixed(place: str, change: Change) -> list[Any]:
    return PLACES[place](change.fixed_use, [change.fixed(torch.arange(4.0), value) for value in change.values()])


for _place in PLACES:
    for _name, _change in CHANGES.items():
        _both: tuple[Run, Run] = partial(_shown, _place, _change), partial(_fixed, _place, _change)
        pair(f"{_place}-{_name}", *_both)
