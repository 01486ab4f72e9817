"""Containers and modules that change between calls."""

from __future__ import annotations

from typing import Any

import torch

from corpus.advice.pair import follows, shows


class Counts(torch.nn.Module):
    """Counts its calls in a number."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 5

    def forward(self, x: Any) -> Any:
        self.calls += 1  # here
        return x * self.calls


class CountsInBuffer(torch.nn.Module):
    """Counts its calls in a buffer."""

    calls: Any

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.tensor(5))

    def forward(self, x: Any) -> Any:
        self.calls.add_(1)
        return x * self.calls


@shows("counter")
def counter() -> list[Any]:
    compiled = torch.compile(Counts(), backend="eager")
    return [compiled(torch.ones(4)) for _ in range(4)]


@follows("counter")
def counter_in_buffer() -> list[Any]:
    compiled = torch.compile(CountsInBuffer(), backend="eager")
    return [compiled(torch.ones(4)) for _ in range(4)]


class Warms(torch.nn.Module):
    """Computes something else after its first calls."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 5

    def forward(self, x: Any) -> Any:
        self.calls += 1  # here
        if self.calls > 7:
            x = x * 2
        return x + 1


@shows("counter-in-condition")
def warms() -> list[Any]:
    compiled = torch.compile(Warms(), backend="eager")
    return [compiled(torch.ones(4)) for _ in range(4)]


@follows("counter-in-condition")
def warms_outside() -> list[Any]:
    compiled = torch.compile(lambda x: x + 1, backend="eager")
    return [compiled(torch.ones(4) * 2 if calls > 7 else torch.ones(4)) for calls in range(6, 10)]


class Logs(torch.nn.Module):
    """Keeps what it computes."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Any] = []

    def forward(self, x: Any) -> Any:
        y = x * 2
        self.seen.append(y)  # here
        return y


@shows("growing-container")
def grows() -> list[Any]:
    module = Logs()
    compiled = torch.compile(module, backend="eager")
    results = [compiled(torch.ones(4)) for _ in range(4)]
    return [*results, *module.seen]


@follows("growing-container")
def grows_outside() -> list[Any]:
    compiled, seen = torch.compile(lambda x: x * 2, backend="eager"), []
    for _ in range(4):
        seen.append(compiled(torch.ones(4)))
    return [*seen, *seen]


def total(x: Any, options: Any) -> Any:
    return x * sum(options.values())  # here


@shows("dict-keys")
def keys() -> list[Any]:
    compiled = torch.compile(total, backend="eager")
    return [compiled(torch.ones(4), {"a": 2.0}), compiled(torch.ones(4), {"b": 2.0})]


@follows("dict-keys")
def same_keys() -> list[Any]:
    compiled = torch.compile(total, backend="eager")
    return [compiled(torch.ones(4), {"a": 2.0, "b": 0.0}), compiled(torch.ones(4), {"a": 2.0, "b": 0.0})]


def scaled(x: Any, norms: Any) -> Any:
    if "first" not in norms:
        norms["first"] = x.norm()  # here
    return x / norms["first"]


@shows("dict-filled-in-call")
def fills_in_the_first_call() -> list[Any]:
    compiled = torch.compile(scaled, backend="eager")
    norms: dict[str, Any] = {}
    return [*(compiled(torch.ones(4), norms) for _ in range(3)), *norms.values()]


@follows("dict-filled-in-call")
def filled_before_the_first_call() -> list[Any]:
    compiled, norms = torch.compile(scaled, backend="eager"), {"first": torch.ones(4).norm()}
    return [*(compiled(torch.ones(4), norms) for _ in range(3)), *norms.values()]


def total_of_keywords(x: Any, **options: Any) -> Any:
    return x * sum(options.values())  # here


@shows("keyword-arguments")
def keywords() -> list[Any]:
    compiled = torch.compile(total_of_keywords, backend="eager")
    return [compiled(torch.ones(4), a=2.0), compiled(torch.ones(4), b=2.0)]


@follows("keyword-arguments")
def same_keywords() -> list[Any]:
    compiled = torch.compile(total_of_keywords, backend="eager")
    return [compiled(torch.ones(4), a=2.0, b=0.0), compiled(torch.ones(4), a=2.0, b=0.0)]


class Plain:
    """An object whose attribute is set late."""


def with_bias(x: Any, options: Any) -> Any:
    return x * 2 + options.bias if hasattr(options, "bias") else x * 2  # here


@shows("missing-attribute")
def set_late() -> list[Any]:
    compiled, options = torch.compile(with_bias, backend="eager"), Plain()
    first = compiled(torch.ones(4), options)
    options.bias = torch.ones(4)  # type: ignore[attr-defined]
    return [first, compiled(torch.ones(4), options)]


@follows("missing-attribute")
def set_first() -> list[Any]:
    compiled, options = torch.compile(with_bias, backend="eager"), Plain()
    options.bias = torch.zeros(4)  # type: ignore[attr-defined]
    first = compiled(torch.ones(4), options)
    options.bias = torch.ones(4)  # type: ignore[attr-defined]
    return [first, compiled(torch.ones(4), options)]


class Infers(torch.nn.Module):
    """Finds out what it is used for in its first call."""

    def __init__(self, task: str | None = None) -> None:
        super().__init__()
        self.task = task

    def forward(self, x: Any) -> Any:
        if self.task is None:  # here
            self.task = "double"
        return x * (2 if self.task == "double" else 3)


@shows("set-in-call")
def inferred_in_the_first_call() -> list[Any]:
    compiled = torch.compile(Infers(), backend="eager")
    return [compiled(torch.ones(4)) for _ in range(2)]


@follows("set-in-call")
def set_before_the_first_call() -> list[Any]:
    compiled = torch.compile(Infers("double"), backend="eager")
    return [compiled(torch.ones(4)) for _ in range(2)]
