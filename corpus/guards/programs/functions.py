"""Functions: globals, closures, defaults, imports, builtins, and parameters of every kind."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable

import torch
import torch.nn.functional as F

from corpus.guards.program import Change, Program, Value, attribute, item, without_attribute

SCALE = 3.0
WEIGHTS = {"w": 2}
TABLE = torch.ones(3)
LAYERS = [1, 2]


def x() -> torch.Tensor:
    return torch.ones(3)


def wave(x: torch.Tensor, n: int = 2, *, m: int = 3) -> torch.Tensor:
    return torch.sin(x) * n + m


def other_wave(x: torch.Tensor, n: int = 2, *, m: int = 3) -> torch.Tensor:
    return torch.cos(x) * n + m


def reads_globals(x: torch.Tensor) -> torch.Tensor:
    return x * SCALE + WEIGHTS["w"] + TABLE + LAYERS[0]


def calls_wave(x: torch.Tensor) -> torch.Tensor:
    return wave(x)


def calls_argument(x: torch.Tensor, f: Callable[..., torch.Tensor]) -> torch.Tensor:
    return f(x)


def calls_module(x: torch.Tensor) -> torch.Tensor:
    return F.relu(x) + math.pi * operator.add(1, 2)


def calls_builtins(x: torch.Tensor) -> torch.Tensor:
    return x * max(len([1, 2]), 1) + sum((1, 2)) + abs(-1)


def with_defaults(x: torch.Tensor, n: int = 2, *, m: float = 0.5, t: tuple[int, ...] = (1, 2)) -> torch.Tensor:
    return x * n + m + t[0]


def with_stars(x: torch.Tensor, *rest: Value, flag: bool = False, **options: Value) -> torch.Tensor:
    for other in rest:
        x = x + other
    return x * options.get("scale", 1) if flag else x


def closure(factor: Value, table: Value) -> Callable[[torch.Tensor], torch.Tensor]:
    def inner(x: torch.Tensor) -> torch.Tensor:
        return x * factor + table["k"]

    return inner


def multiply(factor: Value) -> Callable[[torch.Tensor], torch.Tensor]:
    def inner(x: torch.Tensor) -> torch.Tensor:
        return x * factor

    return inner


FACTOR_CELL = closure(2, {"k": 1})
CAPTURED = closure(torch.ones(3), {"k": 1})
HERE: dict[str, Value] = globals()


def cell(name: str, value: object) -> Value:
    """Set the content of a cell of `FACTOR_CELL` for a while."""
    index = FACTOR_CELL.__code__.co_freevars.index(name)
    return attribute(FACTOR_CELL.__closure__[index], "cell_contents", value)  # type: ignore[index]


def captured(value: object) -> Value:
    """Set the tensor that `CAPTURED` has captured for a while."""
    index = CAPTURED.__code__.co_freevars.index("factor")
    return attribute(CAPTURED.__closure__[index], "cell_contents", value)  # type: ignore[index]


PROGRAMS = (
    Program(
        "globals",
        reads_globals,
        lambda: (x(),),
        (
            Change("other number", None, lambda: item(HERE, "SCALE", 4.0)),
            Change("int", None, lambda: item(HERE, "SCALE", 3)),
            Change("other item", None, lambda: item(WEIGHTS, "w", 5)),
            Change("other dict", None, lambda: item(HERE, "WEIGHTS", {"w": 2, "v": 1})),
            Change("other tensor", None, lambda: item(HERE, "TABLE", torch.ones(3).double())),
            Change("tensor is the argument", lambda: (TABLE,)),
            Change("longer list", None, lambda: item(HERE, "LAYERS", [1, 2, 3])),
            Change("other element", None, lambda: item(HERE, "LAYERS", [7, 2])),
            Change("unused global", None, lambda: item(HERE, "UNUSED", 1)),
            Change("missing", None, lambda: _without(HERE, "SCALE")),
        ),
    ),
    Program(
        "wave",
        calls_wave,
        lambda: (x(),),
        (
            Change("another function", None, lambda: item(HERE, "wave", other_wave)),
            Change("another code", None, lambda: attribute(wave, "__code__", other_wave.__code__)),
            Change("other default", None, lambda: attribute(wave, "__defaults__", (5,))),
            Change("float default", None, lambda: attribute(wave, "__defaults__", (2.0,))),
            Change("no defaults", None, lambda: attribute(wave, "__defaults__", None)),
            Change("other keyword default", None, lambda: attribute(wave, "__kwdefaults__", {"m": 4})),
            Change("no keyword defaults", None, lambda: attribute(wave, "__kwdefaults__", None)),
            Change("torch.sin replaced", None, lambda: attribute(torch, "sin", torch.cos)),
            Change("wrapped", None, lambda: item(HERE, "wave", functools.partial(wave))),
        ),
    ),
    Program(
        "function_argument",
        calls_argument,
        lambda: (x(), wave),
        (
            Change("another", lambda: (x(), other_wave)),
            Change("torch.sin", lambda: (x(), torch.sin)),
            Change("lambda", lambda: (x(), lambda v: v)),
            Change("none", lambda: (x(), None)),
        ),
    ),
    Program(
        "closure_argument",
        calls_argument,
        lambda: (x(), multiply(2)),
        (
            Change("the same again", lambda: (x(), multiply(2))),
            Change("other cell", lambda: (x(), multiply(3))),
            Change("float cell", lambda: (x(), multiply(2.0))),
            Change("tensor cell", lambda: (x(), multiply(x()))),
            Change("no closure", lambda: (x(), wave)),
        ),
    ),
    Program(
        "partial_argument",
        calls_argument,
        lambda: (x(), functools.partial(wave, n=4)),
        (
            Change("other", lambda: (x(), functools.partial(wave, n=5))),
            Change("other function", lambda: (x(), functools.partial(other_wave, n=4))),
            Change("function", lambda: (x(), wave)),
        ),
    ),
    Program(
        "torch_argument",
        calls_argument,
        lambda: (x(), torch.sin),
        (
            Change("cos", lambda: (x(), torch.cos)),
            Change("python", lambda: (x(), wave)),
        ),
    ),
    Program(
        "modules",
        calls_module,
        lambda: (x(),),
        (
            Change("relu replaced", None, lambda: attribute(F, "relu", F.gelu)),
            Change("pi replaced", None, lambda: attribute(math, "pi", 3.0)),
            Change("F replaced", None, lambda: item(HERE, "F", torch)),
            Change("relu missing", None, lambda: without_attribute(F, "relu")),
        ),
    ),
    Program(
        "builtins",
        calls_builtins,
        lambda: (x(),),
        (
            Change("max shadowed", None, lambda: item(HERE, "max", min)),
            Change("len replaced", None, lambda: attribute(__import__("builtins"), "len", lambda o: 2)),
        ),
    ),
    Program(
        "defaults",
        with_defaults,
        lambda: (x(),),
        (
            Change("given", lambda: (x(), 2)),
            Change("other", lambda: (x(), 3)),
            Change("default changed", lambda: (x(),), lambda: attribute(with_defaults, "__defaults__", (4,))),
            Change(
                "keyword default changed", lambda: (x(),), lambda: item(with_defaults.__kwdefaults__ or {}, "m", 0.25)
            ),
        ),
    ),
    Program(
        "stars",
        with_stars,
        lambda: (x(), 1, x()),
        (
            Change("fewer", lambda: (x(), 1)),
            Change("none", lambda: (x(),)),
            Change("other", lambda: (x(), 2, x())),
            Change("tensor first", lambda: (x(), x(), x())),
        ),
    ),
    Program(
        "cells",
        FACTOR_CELL,
        lambda: (x(),),
        (
            Change("other factor", None, lambda: cell("factor", 3)),
            Change("float factor", None, lambda: cell("factor", 2.0)),
            Change("other table", None, lambda: cell("table", {"k": 2})),
            Change("missing key", None, lambda: cell("table", {})),
            Change("wider table", None, lambda: cell("table", {"k": 1, "j": 2})),
        ),
    ),
    Program(
        "tensor_cell",
        CAPTURED,
        lambda: (x(),),
        (
            Change("other dtype", None, lambda: captured(torch.ones(3).double())),
            Change("other size", None, lambda: captured(torch.ones(1))),
            Change("same kind", None, lambda: captured(torch.zeros(3))),
            Change("number", None, lambda: captured(2)),
        ),
    ),
)


def _without(owner: dict[str, Value], key: str) -> Value:
    return _Without(owner, key)


class _Without:
    """Take an item out of a dict for a while."""

    def __init__(self, owner: dict[str, Value], key: str) -> None:
        self.owner, self.key = owner, key

    def __enter__(self) -> None:
        self.before = self.owner.pop(self.key)

    def __exit__(self, *exception: object) -> None:
        self.owner[self.key] = self.before
