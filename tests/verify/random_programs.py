"""Random functions, and what can be observed of a run: the oracle that the verifier's verdicts are held against."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

ADDRESS = re.compile(r" at 0x[0-9a-f]+")
NAMES = ("a", "b", "c", "x", "y", "z")


class Scripted(Exception):
    """An exception that a script lets an operation raise."""


class TooLong(BaseException):
    """Ends a run that does not end by itself."""


@dataclass
class Trace:
    """One run: a seeded script of what operations do, and the log of all that was observed."""

    seed: int
    log: list[object] = field(default_factory=list)
    limit: int = 60
    tested: tuple[int, bool, int] = (0, False, -1)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    def note(self, *what: object) -> int:
        """Log an operation with the exception being handled, and return its number; sometimes raise."""
        handled = sys.exc_info()[1]
        self.log.append((*(shown(part) for part in what), shown(handled)))
        if len(self.log) > self.limit:
            raise TooLong
        if self.chance.random() < 0.12:
            raise Scripted(len(self.log)) if self.chance.random() < 0.5 else KeyError(len(self.log))
        return len(self.log)


def shown(value: object, depth: int = 0) -> object:
    """Return what an observer can tell of a value."""
    if isinstance(value, Value):
        return f"value {value.number}"
    if isinstance(value, BaseException):
        args = tuple(shown(arg, depth + 1) for arg in value.args) if depth < 4 else ()
        return f"{type(value).__name__} {args} in {shown(value.__context__, depth + 1) if depth < 4 else ''}"
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, *(shown(item, depth + 1) for item in value)) if depth < 6 else "deep"
    if isinstance(value, dict):
        return ("dict", *((key, shown(item, depth + 1)) for key, item in value.items())) if depth < 6 else "deep"
    if isinstance(value, slice):
        return ("slice", *(shown(part, depth + 1) for part in (value.start, value.stop, value.step)))
    if isinstance(value, (set, frozenset)):
        return ("set", *(shown(item, depth + 1) for item in value))
    if isinstance(value, (int, str, float, type(None))):
        return (type(value).__name__, ADDRESS.sub("", str(value)))
    return type(value).__name__


class Value:
    """An object all of whose operations are observed."""

    trace: Trace
    number: int

    def __init__(self, trace: Trace, number: int) -> None:
        self.__dict__.update(trace=trace, number=number)

    def new(self, *what: object) -> Value:
        return Value(self.trace, self.trace.note(self, *what))

    def __add__(self, other: object) -> Value:
        return self.new("+", other)

    def __radd__(self, other: object) -> Value:
        return self.new("+ right", other)

    def __repr__(self) -> str:
        return f"text {self.trace.note(self, 'repr')}"

    def __format__(self, spec: str) -> str:
        return f"text {self.trace.note(self, 'format', spec)}"

    def __lt__(self, other: object) -> Value:
        return self.new("<", other)

    def __getitem__(self, key: object) -> Value:
        return self.new("[]", key)

    def __setitem__(self, key: object, value: object) -> None:
        self.new("[]=", key, value)

    def __delitem__(self, key: object) -> None:
        self.new("del", key)

    def __getattr__(self, name: str) -> Value:
        return self.new("attribute", name)

    def __setattr__(self, name: str, value: object) -> None:
        self.new("attribute =", name, value)

    def __call__(self, *args: object, **kwargs: object) -> Value:
        return self.new("call", args, kwargs)

    def __bool__(self) -> bool:
        number, truth, length = self.trace.tested
        if number == self.number and length == len(self.trace.log):
            # A second test with nothing between: what the first one said, and nobody sees it.
            return truth
        self.new("bool")
        truth = self.trace.chance.random() < 0.5
        self.trace.tested = self.number, truth, len(self.trace.log)
        return truth

    def __iter__(self) -> Iterator[Value]:
        self.new("iter")
        for _ in range(self.trace.chance.randrange(4)):
            yield self.new("next")

    def __enter__(self) -> Value:
        return self.new("enter")

    def __exit__(self, *info: object) -> bool:
        self.new("exit", info[1])
        return self.trace.chance.random() < 0.3


def observe(function: Callable[..., object], seed: int) -> list[object]:
    """Return all that can be observed of a call of a function of three arguments."""
    trace = Trace(seed)
    arguments = [Value(trace, -number) for number in range(3)]
    function.__globals__["g"] = Value(trace, -10)
    try:
        result = function(*arguments)
        trace.log.append(("returns", shown(result)))
        if isinstance(result, (list, tuple)) and result and callable(result[0]) and not isinstance(result[0], Value):
            trace.log.append(("inner returns", shown(result[0]())))
    except TooLong:
        trace.log.append("too long")
    except Exception as error:  # noqa: BLE001  (whatever it raises is what is observed)
        trace.log.append(("raises", shown(error)))
    return trace.log


class Writer:
    """Writes one random function."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.lines: list[str] = []
        self.loops = 0
        self.budget = 22

    def text(self) -> str:
        """Return the function's text."""
        self.lines = ["def f(a, b, c):", "    x = [a, b]", "    y = z = None"]
        self.block(1, 5)
        self.lines.append(f"    return {self.expression(2)}")
        return "\n".join(self.lines) + "\n"

    def name(self) -> str:
        return self.chance.choice(NAMES)

    def expression(self, depth: int = 1) -> str:
        """Return an expression."""
        if depth == 0 or self.chance.random() < 0.25:
            return self.chance.choice([*NAMES, *NAMES, "1", "0", "None", "'k'", "True"])
        first, second = self.expression(depth - 1), self.expression(depth - 1)
        return self.chance.choice(
            [
                f"g({first}, {second})",
                f"g({first}, k={second})",
                f"g(*[{first}, {second}])",
                f"{self.name()}.attr",
                f"[{first}, {second}]",
                f"({first}, {second})",
                f"{{'k': {first}, 'l': {second}}}",
                f"{self.name()}[{self.chance.choice(['0', '1', '-1', ':1', '1:', first])}]",
                f"({first} and {second})",
                f"({first} or {second})",
                f"(not {first})",
                f"({first} if {second} else {self.name()})",
                f"(a + {second})",
                f"(a < {second})",
                f"({first} is None)",
                f"[q for q in {self.name()} if q]",
                f"(lambda: {self.name()})",
            ]
        )

    def put(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def block(self, depth: int, count: int) -> None:
        """Write some statements."""
        for _ in range(self.chance.randint(1, count)):
            self.statement(depth)

    def statement(self, depth: int) -> None:
        """Write a statement."""
        self.budget -= 1
        choices = [self.assign, self.assign, self.effect, self.effect, self.container, self.unpack]
        if depth < 4 and self.budget > 0:
            choices += [self.branch, self.branch, self.protect, self.protect, self.loop, self.manage]
        if self.loops:
            choices.append(self.leave)
        self.chance.choice(choices)(depth)

    def assign(self, depth: int) -> None:
        self.put(depth, f"{self.chance.choice('xyz')} = {self.expression(2)}")

    def unpack(self, depth: int) -> None:
        targets = self.chance.choice(["x, y", "y, *z", "z, x"])
        self.put(depth, f"{targets} = {self.chance.choice([self.name(), '[a, b]', '(x, y)', self.expression()])}")

    def effect(self, depth: int) -> None:
        value = self.expression()
        target = f"{self.chance.choice('abc')}.attr"
        self.put(depth, self.chance.choice([f"g({value})", f"{target} = {value}", f"a[{value}] = {self.name()}"]))

    def container(self, depth: int) -> None:
        name = self.chance.choice("xyz")
        change = self.chance.choice(
            [
                f"{name}.append({self.expression()})",
                f"{name}[0] = {self.expression()}",
                f"{name}[0:1] = [{self.name()}]",
                f"del {name}[0]",
                f"del {name}",
            ]
        )
        self.put(depth, f"{name} = [{self.name()}, {self.name()}]")
        self.put(depth, change)

    def branch(self, depth: int) -> None:
        self.put(depth, f"if {self.expression(2)}:")
        self.block(depth + 1, 2)
        if self.chance.random() < 0.6:
            self.put(depth, "else:")
            self.block(depth + 1, 2)

    def loop(self, depth: int) -> None:
        item = self.chance.choice("xyz")
        self.put(depth, self.chance.choice([f"for {item} in {self.name()}:", f"while {self.expression()}:"]))
        self.loops += 1
        self.put(depth + 1, "g('round')")
        self.block(depth + 1, 2)
        self.loops -= 1
        if self.chance.random() < 0.4:
            self.put(depth, "else:")
            self.block(depth + 1, 1)

    def leave(self, depth: int) -> None:
        self.put(depth, self.chance.choice(["break", "continue", f"return {self.name()}"]))

    def protect(self, depth: int) -> None:
        self.put(depth, "try:")
        self.block(depth + 1, 2)
        kinds = ["except KeyError", "except KeyError as z", "except Exception as y", "except", "finally"]
        kind = self.chance.choice(kinds)
        self.put(depth, f"{kind}:")
        loops, self.loops = self.loops, 0 if kind == "finally" else self.loops
        self.block(depth + 1, 2)
        self.loops = loops
        if kind != "finally" and self.chance.random() < 0.3:
            self.put(depth + 1, "raise")
        if kind != "finally" and self.chance.random() < 0.4:
            self.put(depth, "else:")
            self.block(depth + 1, 1)
        if kind != "finally" and self.chance.random() < 0.3:
            self.put(depth, "finally:")
            self.put(depth + 1, "g('finally')")

    def manage(self, depth: int) -> None:
        self.put(depth, f"with a{self.chance.choice(['', ' as x'])}:")
        self.block(depth + 1, 2)
