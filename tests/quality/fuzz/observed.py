"""Values all of whose operations are recorded, and a script that decides what they do: the oracle of a run."""

from __future__ import annotations

import random
import re
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

ADDRESS = re.compile(r"0x[0-9a-f]+")
BINARY = {
    "add": "+", "sub": "-", "mul": "*", "matmul": "@", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "lshift": "<<", "rshift": ">>", "and": "&", "or": "|", "xor": "^",
}  # fmt: skip
COMPARE = {"lt": "<", "le": "<=", "eq": "==", "ne": "!=", "gt": ">", "ge": ">="}


class Scripted(Exception):
    """An exception that a script lets an operation raise."""


@dataclass
class Trace:
    """One run: a seeded script of what operations do, and the log of all that was observed.

    raising: how likely an operation raises.
    fuel: how often a program may ask whether to go on.
    groups: what makes groups of exceptions, where operations raise some.
    """

    seed: int
    raising: float
    fuel: int
    groups: Callable[[str, list[Exception]], Exception] | None = None
    log: list[object] = field(default_factory=list)
    tested: tuple[int, bool, int] = (0, False, -1)
    count: int = 0

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    def note(self, *what: object) -> int:
        """Log an operation with the exception being handled, and return its number; sometimes raise."""
        self.count += 1
        self.log.append((*(shown(part) for part in what), shown(sys.exc_info()[1])))
        if self.chance.random() < self.raising:
            raise self.error()
        return self.count

    def error(self) -> Exception:
        """Return an exception, or a group of some."""
        kind = self.chance.choice((Scripted, KeyError, KeyError, StopIteration))
        if self.groups is None or self.chance.random() < 0.4:
            return kind(self.count)
        inner = self.groups("inner", [ValueError(self.count), KeyError(self.count)])
        parts = [kind(self.count), ValueError(self.count), IndexError(self.count), inner]
        return self.groups("several", self.chance.sample(parts, self.chance.choice((1, 2, 3))))

    def is_empty(self) -> bool:
        """Return whether there is no fuel left; never raises."""
        self.fuel -= 1
        self.log.append(("fuel", shown(sys.exc_info()[1])))
        return self.fuel < 0


def shown(value: object) -> object:
    """Return what an observer can tell of a value, a few levels deep."""
    return _shown(value, 3)


def _shown(value: object, depth: int) -> object:
    if isinstance(value, Value):
        return f"value {value.number}"
    if depth == 0:
        return type(value).__name__
    if isinstance(value, BaseException):
        return type(value).__name__, ADDRESS.sub("0x", repr(value.args)), _shown(value.__context__, depth - 1)
    if isinstance(value, (list, tuple)):
        return type(value).__name__, *(_shown(item, depth - 1) for item in value)
    if isinstance(value, dict):
        return "dict", *((_shown(key, depth - 1), _shown(item, depth - 1)) for key, item in value.items())
    if isinstance(value, types.FunctionType):
        closure = [cell_shown(cell, depth) for cell in value.__closure__ or ()]
        parts = (value.__defaults__, value.__kwdefaults__, value.__annotations__)
        return "function", value.__name__, *(_shown(part, depth - 1) for part in parts), *closure
    if isinstance(value, types.CellType):
        return cell_shown(value, depth)
    if isinstance(value, (slice, int, str, float, type(None))):
        return type(value).__name__, ADDRESS.sub("0x", repr(value))
    return type(value).__name__


def cell_shown(cell: types.CellType, depth: int) -> object:
    """Return what an observer can tell of a cell."""
    try:
        return "cell", _shown(cell.cell_contents, depth - 1)
    except ValueError:
        return "empty cell"


class Value:
    """An object all of whose operations are observed."""

    trace: Trace
    number: int

    def __init__(self, trace: Trace, number: int) -> None:
        self.__dict__.update(trace=trace, number=number)

    def new(self, *what: object) -> Value:
        """Record an operation and return its result."""
        return Value(self.trace, self.trace.note(self, *what))

    def __repr__(self) -> str:
        return f"<value {self.number}>"

    def __hash__(self) -> int:
        return hash(self.number)

    def __getattr__(self, name: str) -> Value:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self.new("attribute", name)

    def __setattr__(self, name: str, value: object) -> None:
        self.new("attribute =", name, value)

    def __delattr__(self, name: str) -> None:
        self.new("delete attribute", name)

    def method(self, *args: object, **kwargs: object) -> Value:
        """Record the call of a method that is one."""
        return self.new("method", args, kwargs)

    def __call__(self, *args: object, **kwargs: object) -> Value:
        """Record a call."""
        return self.new("call", args, kwargs)

    def __bool__(self) -> bool:
        if self.tested_last():
            # A second test with nothing between: what the first one said, and nobody sees it.
            return self.trace.tested[1]
        self.new("bool")
        truth = self.trace.chance.random() < 0.5
        self.trace.tested = self.number, truth, len(self.trace.log)
        return truth

    def tested_last(self) -> bool:
        """Return whether the last that was observed is the truth test of this value."""
        number, _, length = self.trace.tested
        return number == self.number and length == len(self.trace.log)

    def __iter__(self) -> Iterator[Value]:
        self.new("iter")
        return Steps(self)

    def __contains__(self, item: object) -> bool:
        self.new("contains", item)
        return self.trace.chance.random() < 0.5

    def __getitem__(self, key: object) -> Value:
        return self.new("[]", key)

    def __setitem__(self, key: object, value: object) -> None:
        self.new("[]=", key, value)

    def __delitem__(self, key: object) -> None:
        self.new("del []", key)

    def __neg__(self) -> Value:
        return self.new("-")

    def __invert__(self) -> Value:
        return self.new("~")

    def __format__(self, spec: str) -> str:
        return f"format {self.new('format', spec).number}"

    def __str__(self) -> str:
        return f"str {self.new('str').number}"

    def __enter__(self) -> Value:
        return self.new("enter")

    def __exit__(self, *info: object) -> bool:
        self.new("exit", info[1])
        return self.trace.chance.random() < 0.3

    def __aenter__(self) -> Value:
        return self.new("async enter")

    def __aexit__(self, *info: object) -> Value:
        return self.new("async exit", info[1])

    def __await__(self) -> Awaiting:
        self.new("await")
        return Awaiting(self)

    def __aiter__(self) -> AsyncSteps:
        self.new("async iter")
        return AsyncSteps(self)

    def keys(self) -> list[str]:
        """Return the keys of this value as a mapping."""
        self.new("keys")
        return ["k", "m"]


class Steps:
    """The iterator of a value."""

    def __init__(self, owner: Value) -> None:
        self.owner = owner
        self.left = owner.trace.chance.randrange(4)

    def __iter__(self) -> Steps:
        return self

    def __next__(self) -> Value:
        self.left -= 1
        if self.left < 0:
            raise StopIteration
        return self.owner.new("next")


class Awaiting(Steps):
    """What waits for a value: it yields some, hears what is sent and thrown, and returns one."""

    def __next__(self) -> Value:
        self.left -= 1
        if self.left < 0:
            raise StopIteration(self.owner.new("awaited"))
        return self.owner.new("waits")

    def send(self, value: object) -> Value:
        """Record what is sent, and go on."""
        self.owner.new("send", value)
        return next(self)

    def throw(self, error: BaseException, *parts: object) -> Value:
        """Record what is thrown; raise it, or go on."""
        self.owner.new("throw", error)
        if self.owner.trace.chance.random() < 0.5:
            raise error
        return next(self)

    def close(self) -> None:
        """Record the end."""
        self.owner.new("close")


class AsyncSteps:
    """The asynchronous iterator of a value."""

    def __init__(self, owner: Value) -> None:
        self.owner = owner
        self.left = owner.trace.chance.randrange(4)

    def __aiter__(self) -> AsyncSteps:
        return self

    def __anext__(self) -> Value:
        self.left -= 1
        if self.left < 0:
            raise StopAsyncIteration
        return self.owner.new("async next")


def _record(name: str, what: str) -> None:
    def operator(self: Value, other: object) -> Value:
        return self.new(what, other)

    setattr(Value, f"__{name}__", operator)


for _name, _what in BINARY.items():
    _record(_name, _what)
    _record("r" + _name, "right " + _what)
    _record("i" + _name, _what + "=")
for _name, _what in COMPARE.items():
    _record(_name, _what)
