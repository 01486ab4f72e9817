"""Own data classes beside those of the standard library: what can be seen of them is the same, but for `frozen`."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import field
from typing import Any

import pytest

from depyf.bytecode.records import dataclass

MAKERS: list[Callable[..., Any]] = [dataclass, dataclasses.dataclass]


def point(maker: Callable[..., Any], **options: bool) -> Any:
    """Return a class of two fields, one with a default, and a third that neither compares nor shows."""

    class Point:
        x: int
        y: int = 2
        seen: list[int] = field(default_factory=list, compare=False, repr=False)

    Point.__qualname__ = "Point"
    return maker(**options)(Point)


def facts(maker: Callable[..., Any], **options: bool) -> list[object]:
    """Return what can be told of such a class and its instances."""
    kind = point(maker, **options)
    first, same, other = kind(1), kind(1, 2, seen=[3]), kind(x=1, y=3)
    hashes = isinstance(first.__hash__, object) and kind.__hash__ is not None
    return [
        [data_field.name for data_field in dataclasses.fields(first)],
        dataclasses.astuple(other),
        dataclasses.replace(first, y=5).y,
        first == same,
        first == other,
        first == (1, 2),
        repr(other) if options.get("repr", True) else None,
        hashes and (hash(first) == hash(same), len({first, same, other})),
        first.seen is not other.seen,
        first < other if options.get("order") else None,
        hasattr(kind, "__slots__"),
    ]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"frozen": True},
        {"eq": False},
        {"order": True, "frozen": True},
        {"repr": False},
        {"slots": True},
        {"slots": True, "frozen": True},
    ],
    ids=str,
)
def test_a_record_is_what_the_standard_library_makes(options: dict[str, bool]) -> None:
    assert facts(dataclass, **options) == facts(dataclasses.dataclass, **options)


@pytest.mark.parametrize("maker", MAKERS, ids=["own", "standard"])
def test_a_class_that_inherits_compares_with_its_own_kind_only(maker: Callable[..., Any]) -> None:
    base = point(maker, frozen=True)

    class Named(base):  # type: ignore[misc]
        name: str = ""

    kind = maker(frozen=True)(Named)
    assert kind(1, name="a") == kind(1, 2, [], "a") != kind(1, name="b")
    assert kind(1) != base(1) and base(1) != kind(1)
    assert hash(kind(1, name="a")) == hash(kind(1, name="a"))
    assert repr(kind(1)).endswith("Named(x=1, y=2, name='')")


@pytest.mark.parametrize("maker", MAKERS, ids=["own", "standard"])
def test_methods_that_a_class_defines_stay(maker: Callable[..., Any]) -> None:
    class Own:
        x: int

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 7

        def __repr__(self) -> str:
            return "own"

    kind = maker(frozen=True)(Own)
    assert kind(1) == kind(2) and hash(kind(1)) == 7 and repr(kind(1)) == "own"


@pytest.mark.parametrize("maker", MAKERS, ids=["own", "standard"])
def test_a_record_that_holds_itself_has_a_representation(maker: Callable[..., Any]) -> None:
    recursive = point(maker)(1)
    recursive.y = recursive
    assert repr(recursive) == "Point(x=1, y=...)"


def test_nothing_is_compiled_before_an_instance_is_made() -> None:
    """The reason for our own function: `__eq__` and the others come from no text."""
    kind = point(dataclass, frozen=True)
    our_file = dataclass.__code__.co_filename
    assert kind.__eq__.__code__.co_filename == kind.__init__.__code__.co_filename == our_file
    kind(1)
    assert kind.__init__.__code__.co_filename == "<string>"


class Told:
    """Fields of each kind, and a method that runs at the end."""

    first: int
    made: list[int] = field(default_factory=lambda: [1])
    late: str = field(default="late", kw_only=True)
    must: int = field(kw_only=True)
    own: dict[str, int] = field(default_factory=dict, init=False)
    fixed: int = field(default=3, init=False)
    later: int = field(init=False)

    def __post_init__(self) -> None:
        self.later = self.first + self.fixed


@pytest.mark.parametrize("slots", [False, True])
def test_fields_of_each_kind_are_given_as_in_the_standard_library(slots: bool) -> None:
    ours, standard = (maker(slots=slots)(type("Told", (), dict(vars(Told)))) for maker in MAKERS)
    assert str(inspect.signature(ours)) == str(inspect.signature(standard))
    assert str(inspect.signature(ours.__init__)) == str(inspect.signature(standard.__init__))
    assert ours.__init__.__annotations__ == standard.__init__.__annotations__
    accepted: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((1,), {"must": 2}),
        ((1, [5]), {"must": 2, "late": "x"}),
        ((), {"first": 4, "must": 0}),
    ]
    for given, named in accepted:
        first, other = ours(*given, **named), standard(*given, **named)
        assert dataclasses.astuple(first) == dataclasses.astuple(other)
    assert ours(1, must=2).made is not ours(1, must=2).made
    refused: list[dict[str, Any]] = [{}, {"must": 1}, {"first": 1}, {"first": 1, "must": 1, "own": {}}, {"x": 1}]
    for wrong in refused:
        with pytest.raises(TypeError) as raised:
            ours(**wrong)
        with pytest.raises(TypeError) as expected:
            standard(**wrong)
        assert str(raised.value).rpartition(".")[2] == str(expected.value).rpartition(".")[2]


def test_a_signature_is_known_before_an_instance_is_made() -> None:
    base = point(dataclass)

    class Own(base):  # type: ignore[misc]
        def __init__(self, z: int) -> None:
            super().__init__(z)

    assert list(inspect.signature(Own).parameters) == ["z"]
    assert list(inspect.signature(base).parameters) == ["x", "y", "seen"]
    assert Own(4).x == 4
