"""Torch's words, literals, and the names of objects."""

from __future__ import annotations

import enum
import math
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from depyf.model.user_line import UserLine
from depyf.torch.capture.qualified import qualified_name
from depyf.torch.guards.held import Gone, hold, identifier
from depyf.torch.guards.literal import literal, quoted
from depyf.torch.guards.names import Names
from depyf.torch.guards.verdicts import ambient
from depyf.torch.guards.verdicts.difference import brief
from depyf.torch.guards.words import expression, user_line


class Colour(enum.Enum):
    RED = 1


def function() -> None:
    def inner() -> None: ...

    function.inner = inner  # type: ignore[attr-defined]


PADDED = "L['n'] == 7                                                   # x=a*n+b  # mp/g/zoo.py:14 in f1"


def test_the_parts_of_torch_s_words() -> None:
    assert expression(PADDED) == "L['n'] == 7"
    assert user_line(PADDED) == UserLine("mp/g/zoo.py", 14, "x=a*n+b", "f1")
    assert user_line(PADDED, "/tmp/g/zoo.py") == UserLine("/tmp/g/zoo.py", 14, "x=a*n+b", "f1")
    assert expression("x, type=<class 'int'>  # y  # f.py:1 in g (HINT: type int)") == "x, type=<class 'int'>"
    assert user_line("a == b  # _dynamo/output_graph.py:1135 in init_ambient_guards") is None
    assert user_line("a == b") is None


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -7,
        2**70,
        0.1,
        -0.0,
        math.inf,
        -math.inf,
        1 + 2j,
        "plain",
        "it's",
        'say "x"',
        "a\nb\\c\x00 größe",
        b"bytes",
        (),
        (1,),
        (1, (2, "x")),
        [1, [2.0]],
        {1, "a"},
        set(),
        frozenset({1}),
        frozenset(),
        range(1, 9, 2),
        slice(0, None, 2),
        torch.float16,
        torch.strided,
        torch.channels_last,
        torch.Size([1, 2]),
        torch.device("cpu"),
        torch.device("cuda:1"),
        ...,
    ],
    # A set's text has its members in no order: with it as name, two processes collect different tests.
    ids=lambda value: "".join(sorted(repr(value))) if isinstance(value, (set, frozenset)) else repr(value),
)
def test_a_literal_makes_the_same_value(value: Any) -> None:
    text = literal(value)
    assert text is not None
    evaluated = eval(text, {"torch": torch})
    assert type(evaluated) is type(value)
    # A NaN is not equal to itself, and equal sets may be written in another order.
    assert repr(evaluated) == repr(value) or evaluated == value
    assert evaluated == value


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        complex(math.nan, 0),
        (1, math.nan),
        object(),
        Colour.RED,
        "x" * 1000,
        {1: 2},
        type("S", (str,), {})("a"),
    ],
)
def test_what_has_no_short_literal(value: Any) -> None:
    assert literal(value) is None


def test_deep_values_are_held() -> None:
    value: Any = 1
    for _ in range(1000):
        value = (value,)
    assert literal(value) is None


def test_quotes() -> None:
    assert quoted("a") == '"a"'
    assert quoted('"') == "'\"'" or eval(quoted('"')) == '"'


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (torch.abs, "torch.abs"),
        (torch.nn.Linear, "torch.nn.modules.linear.Linear"),
        (torch.nn, "torch.nn"),
        (len, "len"),
        (dict, "dict"),
        (Colour.RED, f"{__name__}.Colour.RED"),
        (function.__code__, f"code of function (test_words.py:{function.__code__.co_firstlineno})"),
        (3, ""),
    ],
)
def test_qualified_names(value: Any, name: str) -> None:
    assert qualified_name(value) == name


def test_names_in_a_file() -> None:
    names = Names(["tensor"])
    assert names.of(hold(torch.abs)) == "torch_abs"
    assert names.of(hold(torch.abs)) == "torch_abs"
    assert names.of(hold(torch)) == "torch"
    assert names.of(hold(dict)) == "dict"
    assert names.of(hold(torch.nn.Linear)) == "Linear"
    other = type("Linear", (), {})
    assert names.of(hold(other)) not in {"Linear", "tensor"}
    assert names.of(hold(SimpleNamespace(), "L['self'].config")) == "config_object"
    assert identifier("<lambda>") == "lambda_"
    assert identifier("3d") == "_3d"


def test_an_object_that_died_is_nothing() -> None:
    held = hold(type("Short", (), {}))
    import gc

    gc.collect()
    assert isinstance(held.get(), Gone)


def test_brief_texts() -> None:
    assert brief(torch.ones(2, 3)) == "Tensor of torch.float32, size (2, 3)"
    assert brief(torch.nn.Linear(1, 1)) == "a Linear"
    assert "0x" not in brief(object())
    assert len(brief(list(range(1000)))) <= 120
    assert brief(torch.abs) == "<built-in method abs of type object>" or "0x" not in brief(torch.abs)


class Bad:
    def __repr__(self) -> str:
        raise ValueError("no")


def test_a_repr_that_raises() -> None:
    assert brief(Bad()) == "Bad whose repr raises ValueError"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_torch_s_numbers_for_dtypes(dtype: torch.dtype) -> None:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        assert ambient.own_flags()["default_dtype"] is dtype
    finally:
        torch.set_default_dtype(before)
