"""Lists, tuples, dicts and their kin: lengths, keys and their order, members, iterators."""

from __future__ import annotations

import collections
import itertools
import types
from collections import OrderedDict, defaultdict, deque
from functools import partial
from typing import NamedTuple

import torch

from corpus.guards.program import Change, Program, Value


class Point(NamedTuple):
    p: Value
    q: Value


class Other(NamedTuple):
    p: Value
    q: Value


class Settings(dict[str, Value]):
    """A dict with attributes, as configurations often are."""

    def __missing__(self, key: str) -> int:
        return 3


class Row(list[Value]):
    """A list of a class of its own."""

    def __getitem__(self, index: Value) -> Value:
        return super().__getitem__(index)


def x() -> torch.Tensor:
    return torch.ones(3)


def first(x: torch.Tensor, items: Value) -> torch.Tensor:
    return x + items[0] * len(items)


def key(x: torch.Tensor, table: Value) -> torch.Tensor:
    return x + table["k"]


def every(x: torch.Tensor, table: Value) -> torch.Tensor:
    x = x * 2
    for value in table.values():
        x = x + value
    return x


def every_item(x: torch.Tensor, table: Value) -> torch.Tensor:
    for name, value in table.items():
        x = x * len(str(name)) + value
    return x


def has(x: torch.Tensor, table: Value) -> torch.Tensor:
    return x + 1 if "k" in table else x * 2


def member(x: torch.Tensor, items: Value) -> torch.Tensor:
    return x + 1 if 3 in items else x * 2


def each(x: torch.Tensor, items: Value) -> torch.Tensor:
    x = x * 2
    for item in items:
        x = x + item
    return x


def point(x: torch.Tensor, where: Value) -> torch.Tensor:
    return x + where.p


def nested(x: torch.Tensor, table: Value) -> torch.Tensor:
    return x + table["a"][1]["b"][0]


def proxy(x: torch.Tensor, table: Value) -> torch.Tensor:
    return x + sum(table[name] for name in table)


def drain(x: torch.Tensor, iterator: Value) -> torch.Tensor:
    for item in iterator:
        x = x + item
    return x


def count(x: torch.Tensor, counter: Value) -> torch.Tensor:
    return x + next(counter)


def typed(x: torch.Tensor, table: Value) -> torch.Tensor:
    return x + table[torch.float32] + table[2] + table[(1, "a")]


def advanced(iterator: Value, steps: int) -> Value:
    for _ in range(steps):
        next(iterator)
    return iterator


def _with(make: Value) -> tuple[Value, ...]:
    return x(), make()


def case(name: str, function: Value, make: Value, others: dict[str, Value], **more: Value) -> Program:
    """Return a program of a tensor and a container, which is made anew for every call."""
    changes = tuple(Change(what, partial(_with, other)) for what, other in others.items())
    return Program(name, function, lambda: (x(), make()), changes, **more)


PROGRAMS = (
    case(
        "list",
        first,
        lambda: [1, 2],
        {
            "longer": lambda: [1, 2, 3],
            "other first": lambda: [2, 2],
            "other second": lambda: [1, 5],
            "tuple": lambda: (1, 2),
            "empty": list,
            "float": lambda: [1.0, 2],
            "Row": lambda: Row([1, 2]),
            "tensor": lambda: torch.tensor([1, 2]),
            "none": lambda: None,
        },
    ),
    case("list_of_tensors", first, lambda: [x(), x()], {"one": lambda: [x()], "dtype": lambda: [x().double(), x()]}),
    case("empty_list", each, list, {"one": lambda: [1], "tuple": tuple, "dict": dict}),
    case(
        "tuple", first, lambda: (1, 2), {"list": lambda: [1, 2], "longer": lambda: (1, 2, 3), "other": lambda: (4, 2)}
    ),
    case(
        "named_tuple",
        point,
        lambda: Point(1, 2),
        {"other value": lambda: Point(2, 2), "other class": lambda: Other(1, 2), "second": lambda: Point(1, x())},
    ),
    case("own_list", first, lambda: Row([1, 2]), {"list": lambda: [1, 2], "longer": lambda: Row([1, 2, 3])}),
    case("deque", first, lambda: deque([1, 2]), {"longer": lambda: deque([1, 2, 3]), "list": lambda: [1, 2]}),
    case(
        "range",
        each,
        lambda: range(3),
        {"longer": lambda: range(4), "step": lambda: range(0, 3, 1), "list": lambda: [0, 1, 2]},
    ),
    case(
        "dict",
        key,
        lambda: {"k": 1, "j": 2},
        {
            "other value": lambda: {"k": 2, "j": 2},
            "more keys": lambda: {"k": 1, "j": 2, "i": 3},
            "only the key": lambda: {"k": 1},
            "other order": lambda: {"j": 2, "k": 1},
            "missing": lambda: {"j": 2},
            "ordered": lambda: OrderedDict(k=1, j=2),
            "default": lambda: defaultdict(int, k=1, j=2),
            "float": lambda: {"k": 1.0, "j": 2},
            "Settings": lambda: Settings(k=1, j=2),
            "list": lambda: [1],
        },
    ),
    case(
        "dict_values",
        every,
        lambda: {"a": 1, 2: 2, (3, "x"): 3},
        {
            "other order": lambda: {2: 2, "a": 1, (3, "x"): 3},
            "other key": lambda: {"b": 1, 2: 2, (3, "x"): 3},
            "float key": lambda: {"a": 1, 2.0: 2, (3, "x"): 3},
            "one more": lambda: {"a": 1, 2: 2, (3, "x"): 3, "z": 1},
            "one less": lambda: {"a": 1, 2: 2},
            "other value": lambda: {"a": 1, 2: 5, (3, "x"): 3},
            "tensor value": lambda: {"a": x(), 2: 2, (3, "x"): 3},
        },
    ),
    case(
        "ordered_dict",
        every_item,
        lambda: OrderedDict(z=1, y=2),
        {
            "one more": lambda: OrderedDict(z=1, y=2, x=3),
            "plain dict": lambda: {"z": 1, "y": 2},
            "other order": lambda: OrderedDict(y=2, z=1),
            "moved to the end": lambda: _moved(OrderedDict(z=1, y=2)),
            "other value": lambda: OrderedDict(z=1, y=3),
        },
    ),
    case(
        "ordered_key", key, lambda: OrderedDict(k=1), {"plain": lambda: {"k": 1}, "more": lambda: OrderedDict(k=1, j=1)}
    ),
    case(
        "default_dict",
        key,
        lambda: defaultdict(int, k=1),
        {
            "missing": lambda: defaultdict(int),
            "other factory": lambda: defaultdict(float, k=1.0),
            "plain": lambda: {"k": 1},
        },
    ),
    case(
        "dict_subclass",
        key,
        lambda: Settings(k=1),
        {
            "missing": Settings,
            "other": lambda: Settings(k=2),
            "plain": lambda: {"k": 1},
            "more": lambda: Settings(k=1, j=1),
        },
    ),
    case(
        "dict_subclass_values",
        every,
        lambda: Settings(k=1),
        {"other": lambda: Settings(k=2), "more": lambda: Settings(k=1, j=1)},
    ),
    case("empty_dict", every, dict, {"one": lambda: {"a": 1}, "ordered": OrderedDict, "list": list}),
    case(
        "in_dict",
        has,
        lambda: {"k": 1},
        {"not in": lambda: {"j": 1}, "empty": dict, "other value": lambda: {"k": 2}, "list": lambda: ["k"]},
    ),
    case(
        "not_in_dict", has, lambda: {"j": 1}, {"in": lambda: {"k": 1}, "both": lambda: {"j": 1, "k": 1}, "empty": dict}
    ),
    case(
        "in_set",
        member,
        lambda: {1, 3},
        {
            "not in": lambda: {1},
            "frozen": lambda: frozenset({1, 3}),
            "more": lambda: {1, 3, 5},
            "floats": lambda: {1.0, 3.0},
        },
    ),
    case("not_in_set", member, lambda: {1, 2}, {"in": lambda: {1, 3}, "same": lambda: {2, 1}, "list": lambda: [1, 2]}),
    case("frozenset", member, lambda: frozenset({1, 3}), {"set": lambda: {1, 3}, "not in": lambda: frozenset({1})}),
    case("set_loop", each, lambda: {1, 3}, {"more": lambda: {1, 3, 5}, "other": lambda: {1, 4}}),
    case(
        "nested",
        nested,
        lambda: {"a": [0, {"b": (1, 2)}]},
        {
            "other leaf": lambda: {"a": [0, {"b": (3, 2)}]},
            "list inside": lambda: {"a": [0, {"b": [1, 2]}]},
            "missing inside": lambda: {"a": [0, {"c": (1, 2)}]},
            "shorter": lambda: {"a": [0]},
            "none inside": lambda: {"a": None},
        },
    ),
    case(
        "mapping_proxy",
        proxy,
        lambda: types.MappingProxyType({"a": 1, "b": 2}),
        {
            "other keys": lambda: types.MappingProxyType({"a": 1}),
            "other value": lambda: types.MappingProxyType({"a": 1, "b": 3}),
            "dict": lambda: {"a": 1, "b": 2},
        },
    ),
    case(
        "tuple_iterator",
        drain,
        lambda: iter((1, 2, 3)),
        {
            "started": lambda: advanced(iter((0, 1, 2, 3)), 1),
            "shorter": lambda: iter((1, 2)),
            "other": lambda: iter((1, 2, 4)),
            "list": lambda: iter([1, 2, 3]),
            "spent": lambda: advanced(iter((1,)), 1),
        },
    ),
    case(
        "range_iterator",
        drain,
        lambda: iter(range(1, 7, 2)),
        {
            "same numbers": lambda: iter(range(1, 6, 2)),
            "started": lambda: advanced(iter(range(-1, 7, 2)), 1),
            "other": lambda: iter(range(1, 9, 2)),
            "list": lambda: iter([1, 3, 5]),
        },
    ),
    case(
        "count_iterator",
        count,
        lambda: itertools.count(2),
        {
            "later": lambda: itertools.count(3),
            "step": lambda: itertools.count(2, 2),
            "float": lambda: itertools.count(2.0),
        },
    ),
    case(
        "typed_keys",
        typed,
        lambda: {torch.float32: 1, 2: 2, (1, "a"): 3},
        {
            "other": lambda: {torch.float32: 2, 2: 2, (1, "a"): 3},
            "missing": lambda: {2: 2, (1, "a"): 3},
            "wider": lambda: {torch.float32: 1, 2.0: 2, (1, "a"): 3, 9: 9},
        },
    ),
    case(
        "counter",
        key,
        lambda: collections.Counter("kk"),
        {"one": lambda: collections.Counter("k"), "missing": collections.Counter},
    ),
)


def _moved(table: OrderedDict[str, int]) -> OrderedDict[str, int]:
    table.move_to_end("z")
    return table
