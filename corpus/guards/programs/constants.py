"""Constants: numbers, strings, enums, dtypes, and what is equal but of another type."""

from __future__ import annotations

import enum
from functools import partial

import numpy as np
import torch

from corpus.guards.program import Change, Program, Value


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Named(str):
    """A string with a class of its own."""


class Count(int):
    """A number with a class of its own."""


def x() -> torch.Tensor:
    return torch.ones(3)


def integer(x: torch.Tensor, n: int) -> torch.Tensor:
    return x * n


def text(x: torch.Tensor, mode: str) -> torch.Tensor:
    return x + 1 if mode == "gelu" else x - len(mode)


def truth(x: torch.Tensor, flag: bool) -> torch.Tensor:
    return x * 2 if flag else -x


def optional(x: torch.Tensor, other: Value = None) -> torch.Tensor:
    return x * 2 if other is None else x + other


def colour(x: torch.Tensor, which: Value) -> torch.Tensor:
    return x * 2 if which is Colour.RED else x


def level(x: torch.Tensor, which: Value) -> torch.Tensor:
    return x * 2 if which == Level.LOW else x


def converted(x: torch.Tensor, dtype: Value) -> torch.Tensor:
    return x.to(dtype)


def placed(x: torch.Tensor, device: Value) -> torch.Tensor:
    return x.to(device)


def complex_number(x: torch.Tensor, z: Value) -> torch.Tensor:
    return x * z.real if z == z else x * 2


def sliced(x: torch.Tensor, where: Value) -> torch.Tensor:
    return x[where]


def sized(x: torch.Tensor, size: Value) -> torch.Tensor:
    return x.view(size)


NAN = float("nan")


def _with(other: Value) -> tuple[Value, ...]:
    return x(), other


def case(name: str, function: Value, value: Value, others: dict[str, Value], **more: Value) -> Program:
    """Return a program of a tensor and one constant, asked about other values of it."""
    changes = tuple(Change(what, partial(_with, other)) for what, other in others.items())
    return Program(name, function, lambda: (x(), value), changes, **more)


STATIC: dict[str, Value] = {"options": {"dynamic": False}}

PROGRAMS = (
    case("int", integer, 7, {"8": 8, "7.0": 7.0, "True": True, "Count": Count(7), "numpy": np.int64(7), "text": "7"}),
    case("int_one", integer, 1, {"True": True, "1.0": 1.0, "LOW": Level.LOW, "0": 0}),
    case("float", integer, 0.5, {"0.25": 0.25, "1": 1, "nan": NAN, "numpy": np.float64(0.5)}, **STATIC),
    case("zero", integer, 0.0, {"-0.0": -0.0, "0": 0, "False": False}, **STATIC),
    case(
        "nan",
        integer,
        NAN,
        {"another nan": float("nan"), "0.5": 0.5, "numpy": np.float64("nan"), "none": None},
        **STATIC,
    ),
    case("infinite", integer, float("inf"), {"-inf": float("-inf"), "nan": NAN, "1e308": 1e308}, **STATIC),
    case("huge_int", integer, 2**40, {"2**40+1": 2**40 + 1, "float": float(2**40)}),
    case("str", text, "gelu", {"other": "relu", "empty": "", "Named": Named("gelu"), "bytes": b"gelu", "none": None}),
    case("str_hash", text, "a  # 'b' \"c\"\n\\d", {"other": "a", "less": "a  # 'b' \"c\"\n"}),
    case("str_unicode", text, "größe 漢", {"other": "größe", "same": "größe 漢"}),
    case("bool", truth, True, {"False": False, "1": 1, "none": None, "text": "yes"}),
    case("bool_false", truth, False, {"True": True, "0": 0, "none": None}),
    case("none", optional, None, {"0": 0, "False": False, "tensor": torch.ones(3), "text": ""}),
    case("enum", colour, Colour.RED, {"blue": Colour.BLUE, "1": 1, "the class": Colour}),
    case("int_enum", level, Level.LOW, {"high": Level.HIGH, "1": 1, "True": True}),
    case("dtype", converted, torch.float16, {"float64": torch.float64, "text": "float16", "float": float}),
    case("device", placed, torch.device("cpu"), {"text": "cpu", "meta": torch.device("meta")}),
    case("complex", complex_number, 1 + 2j, {"other": 1 + 3j, "float": 1.0, "nan": complex(NAN, 0)}),
    case("complex_nan", complex_number, complex(NAN, 1.0), {"other nan": complex(0.0, NAN), "1j": 1j, "nan": NAN}),
    case("slice", sliced, slice(0, 2), {"other": slice(0, 1), "with step": slice(0, 2, 1), "tuple": (0, 2)}),
    case("size", sized, torch.Size([3, 1]), {"tuple": (3, 1), "other": torch.Size([1, 3]), "list": [3, 1]}),
    case("numpy_scalar", integer, np.float32(2.0), {"other": np.float32(3.0), "float64": np.float64(2.0), "2.0": 2.0}),
    case("count", integer, Count(7), {"another": Count(8), "int": 7, "float": 7.0}),
    case("named", text, Named("gelu"), {"another": Named("x"), "str": "gelu"}),
)
