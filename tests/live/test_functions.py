"""A live function is written with what it holds beside its code."""

from __future__ import annotations

import enum
import functools
import math
import sys
import types
import typing
from collections import OrderedDict
from collections.abc import Iterator

import pytest

import depyf
from depyf.decompiler.live.values import MANY


class Color(enum.Enum):
    RED = 1


SENTINEL = object()


class Shouting:
    """Nothing of the program may run while its functions are described."""

    def __repr__(self) -> str:
        raise AssertionError("repr was called")

    def __eq__(self, other: object) -> bool:
        raise AssertionError("== was called")

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"{name} was asked for")

    __hash__ = object.__hash__


def _header(function: object) -> str:
    lines = depyf.decompile(function).splitlines()
    return next(line for line in lines if line.startswith("def "))


def _with_default(value: object) -> str:
    def f(a):  # type: ignore[no-untyped-def]
        return a

    f.__defaults__ = (value,)
    return _header(f).removeprefix("def f(a=").removesuffix("):")


def test_bare_code_has_no_defaults() -> None:
    def f(a, b=1, *, c=2):  # type: ignore[no-untyped-def]
        return a

    assert _header(f.__code__) == "def f(a, b, *, c):"
    assert _header(f) == "def f(a, b=1, *, c=2):"


def test_every_kind_of_parameter() -> None:
    def f(a: int, /, b: list[int] | None = None, *args: int, c, d: str = "x", **rest: float) -> bool:  # type: ignore[no-untyped-def]
        return False

    assert _header(f) == (
        "def f(a: int, /, b: list[int] | None = None, *args: int, c, d: str = 'x', **rest: float) -> bool:"
    )


def test_annotations_that_are_objects() -> None:
    def f(a, b, c, d):  # type: ignore[no-untyped-def]
        return a

    f.__annotations__ = {"a": int, "b": typing.Optional[int], "c": Color, "d": list[Color], "none": int}  # noqa: UP045
    header = _header(f)
    assert header.startswith("def f(a: int, b: typing.Optional[int], c: Color, d: list[")
    assert "none" not in header


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-0.0, "-0.0"),
        ([1, (2, {"a": None}), {3}], "[1, (2, {'a': None}), {3}]"),
        (frozenset(), "frozenset()"),
        (frozenset({1}), "frozenset({1})"),
        (Color.RED, "Color.RED"),
        (Color, "Color"),
        (len, "len"),
        (int, "int"),
        (OrderedDict, "OrderedDict"),
        (math.sqrt, "math.sqrt"),
        (types, "types"),
        (SENTINEL, "SENTINEL"),
        (range(3), "object_range"),
        (list(range(MANY)), "object_list"),
    ],
    ids=lambda value: value if type(value) is str else type(value).__name__,
)
def test_defaults_have_the_text_that_names_them(value: object, text: str) -> None:
    assert _with_default(value) == text


def test_a_list_that_holds_itself_is_named() -> None:
    loop: list[object] = []
    loop.append(loop)
    assert _with_default(loop) == "object_list"


def test_a_shared_list_is_not_written_twice() -> None:
    shared: list[object] = []
    assert _with_default((shared, shared)) == "object_tuple"


def test_nothing_of_the_program_runs() -> None:
    shouting = Shouting()

    def f(a=Shouting(), *, b=[Shouting()]):  # type: ignore[no-untyped-def]  # noqa: B006, B008
        return shouting

    f.__annotations__ = {"a": Shouting()}
    assert depyf.decompile(f).splitlines() == [
        "# closure: shouting = object_Shouting_4",
        f"# object_Shouting: an object of {__name__}.Shouting",
        f"# object_Shouting_2: an object of {__name__}.Shouting",
        f"# object_Shouting_3: an object of {__name__}.Shouting",
        f"# object_Shouting_4: an object of {__name__}.Shouting",
        "def f(a: object_Shouting_3 = object_Shouting, *, b=[object_Shouting_2]):",
        "    return shouting",
    ]


def test_the_closure_stands_above() -> None:
    factor, names = 3, ["a"]

    def f(a):  # type: ignore[no-untyped-def]
        return later, names, factor * a

    lines = depyf.decompile(f).splitlines()
    assert lines[:3] == ["# closure: factor = 3", "# closure: later is unbound", "# closure: names = ['a']"]
    later = 1


def test_a_lambda_has_its_defaults() -> None:
    function = lambda a, b=(1, "x"): a  # noqa: E731
    assert depyf.decompile(function) == "lambda_function = lambda a, b=(1, 'x'): a\n"


def test_the_text_makes_the_same_function() -> None:
    def f(a, b=(1, -2.5), /, *args, c={"k": [1]}, d=None, **rest):  # type: ignore[no-untyped-def]  # noqa: B006
        return a, b, args, c, d, rest

    namespace: dict[str, typing.Any] = {}
    exec(depyf.decompile(f), namespace)
    again = namespace["f"]
    assert (again.__defaults__, again.__kwdefaults__) == (f.__defaults__, f.__kwdefaults__)
    assert again(1, 2, 3, c=4, e=5) == f(1, 2, 3, c=4, e=5)


def test_what_leads_to_code_is_followed_there() -> None:
    class Holder:
        @property
        def read(self) -> int:
            return 1

        @read.setter
        def read(self, value: int) -> None:
            self.written = value

        @functools.cached_property
        def kept(self) -> int:
            return 2

        @functools.singledispatchmethod
        def single(self, x: int) -> int:
            return 3

        half = functools.partialmethod(lambda self, x: 4, 5)

    def generates() -> Iterator[int]:
        yield sys._getframe().f_code.co_flags

    async def waits() -> int:
        return 6

    for name, number in (("read", 1), ("kept", 2), ("single", 3), ("half", 4)):
        assert f"{number}" in depyf.decompile(vars(Holder)[name])
    assert "yield" in depyf.decompile(generates())
    waiting = waits()
    assert "return 6" in depyf.decompile(waiting)
    waiting.close()
    with pytest.raises(TypeError, match="prints classes"):
        depyf.decompile(Holder)
    with pytest.raises(TypeError, match="no bytecode of its own$"):
        depyf.decompile(property())
