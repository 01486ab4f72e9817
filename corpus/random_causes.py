"""Random programs whose causes of recompiles are known, because each call changes the values of one cause.

A program has one to four compiled functions, and one to four causes for each of them. A cause is one value, or two
values that always change together. Each value is read in one line of its own, in the function, behind a graph break, or
in a helper. After each call the program says which cause it changed: `CHANGED(function, number)`.

    def f0(x, mode):                        f0(X, mode='a')
        y = x * 2                           CHANGED('f0', None)
        y = y + len(mode)                   f0(X, mode='bb')
        return y                            CHANGED('f0', 0)
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

MOST_FUNCTIONS = 4
MOST_CAUSES = 4
MOST_CHANGES = 12
"""The most calls of a function that change something. The limit of entries is 8, so some functions reach it."""
_SWITCHES = ("grad", "autocast", "training", "dtype")


@dataclass(frozen=True)
class Template:
    """A kind of value that a call may change.

    read: the lines that read it; `{v}` is the value as the function writes it, `{n}` a name for a loop's variable.
    value: the text of the value in its state with this number, from 0 on.
    places: where the program may keep it.
    """

    read: str
    value: Callable[[int], str]
    places: tuple[str, ...] = ("argument", "global", "attribute", "closure", "object")


def _cycled(*texts: str) -> Callable[[int], str]:
    return lambda state: texts[state % len(texts)]


_PLAIN = ("argument",)
_SIZES = (5, 7, 9, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)
TEMPLATES = {
    "string": Template("y = y + len({v})", lambda state: repr("s" * (state + 2) + "!"[: state % 2])),
    "string-branch": Template('y = y * 3 if {v} == "b" else y - 1', lambda state: repr(f"mode {state}")),
    "flag": Template("y = y + 1 if {v} else y - 1", _cycled("True", "False")),
    "float": Template("y = y * {v}", lambda state: f"{state + 2}.25"),
    "integer": Template("y = y * {v}", lambda state: str(state * 3 + 4)),
    "integer-branch": Template("y = y * 2 if {v} > 1 << 20 else y + 4", lambda state: str(state * state + 5)),
    "integer-loop": Template("for {n} in range({v}): y = y + {n}", lambda state: str(state + 2)),
    "none": Template("y = y if {v} is None else y + {v}", _cycled("None", "ones(3)"), _PLAIN),
    "none-number": Template("y = y if {v} is None else y + {v}", _cycled("None", "2.5")),
    "type": Template("y = y + {v}", _cycled("7", "7.5")),
    "list": Template("for {n} in {v}: y = y + {n}", lambda state: repr([1.5] * (state + 1)), ("argument", "global")),
    "keys": Template(
        "for {n} in {v}: y = y + {v}[{n}]", lambda state: repr({f"k{state}": 1.5, "k": 2.5}), ("argument", "global")
    ),
    "function": Template("y = {v}(y)", "FUNCTIONS[{}]".format, _PLAIN),
    "tensor-dtype": Template(
        "y = y + {v}.sum()",
        _cycled("ones(3)", "ones(3, dtype=torch.float64)", "ones(3, dtype=torch.int32)"),
        _PLAIN,
    ),
    "tensor-size": Template("y = y + {v}.sum()", lambda state: f"ones({_SIZES[state]}, 3)", _PLAIN),
    "tensor-rank": Template(
        "y = y + {v}.sum()", lambda state: f"ones({', '.join(['3'] * (state % 5 + 1))})", _PLAIN
    ),
    "tensor-stride": Template("y = y + {v}.sum()", _cycled("ones(4, 3)", "ones(3, 4).t()"), _PLAIN),
    "tensor-gradient": Template(
        "y = y + {v}.sum()", _cycled("ones(3)", "ones(3, requires_grad=True)"), _PLAIN
    ),
}
_NEVER_SEEN = frozenset(name for name, template in TEMPLATES.items() if len({template.value(n) for n in range(9)}) == 9)
"""Templates whose values never come back. If one of a pair came back, one value alone would keep an entry apart."""
_HEAD = f"""import torch

FUNCTIONS = [{", ".join(f"lambda t: t + {number}" for number in range(1 + MOST_CHANGES))}]

def ones(*size, **settings):
    return torch.ones(*size, **{{"dtype": torch.float32, **settings}})

X = ones(3)
"""
_CONTEXTS = {
    "grad": _cycled("", "with torch.no_grad(): "),
    "autocast": _cycled("", "with torch.autocast('cpu', torch.bfloat16): "),
}


@dataclass(eq=False)
class Value:
    """A value of a program: its template, its place, and its state."""

    name: str
    template: str
    place: str
    state: int = 0

    @property
    def is_switch(self) -> bool:
        """Return whether it is a state of the call, which no line of the function reads."""
        return self.template in _SWITCHES

    @property
    def text(self) -> str:
        """Return the value's text in its present state."""
        return TEMPLATES[self.template].value(self.state)


@dataclass(eq=False)
class PlantedCause:
    """One cause: its values, the lines that read them, and the lines of the calls that changed them."""

    values: list[Value]
    lines: set[int] = field(default_factory=set)

    @property
    def names(self) -> set[str]:
        """Return the words of which a sentence about this cause contains one."""
        words = {"grad": "gradients", "autocast": "autocast", "training": "training", "dtype": "default dtype"}
        return {words.get(value.template, value.name) for value in self.values}


@dataclass(eq=False)
class PlantedFunction:
    """A compiled function: its causes, whether it is a module, and where its graph breaks (-1: nowhere)."""

    name: str
    causes: list[PlantedCause]
    is_module: bool = False
    has_closure: bool = False
    breaks_before: int = -1
    in_helper: frozenset[int] = frozenset()

    @property
    def values(self) -> list[Value]:
        """Return the values of all causes."""
        return [value for cause in self.causes for value in cause.values]


class Program:
    """Writes one program, and knows its causes. `text` is the source, `functions` what was planted."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._lines = _HEAD.splitlines()
        self.functions = [self._function(number) for number in range(self.random.randint(1, MOST_FUNCTIONS))]
        for function in self.functions:
            self._define(function)
        for function in self.functions:
            self._call(function, None)
        for function, number in self._schedule():
            self._call(function, number)
        self.text = "\n".join(self._lines) + "\n"

    def _function(self, number: int) -> PlantedFunction:
        is_module = self.random.random() < 0.4
        has_closure = not is_module and self.random.random() < 0.4
        count = self.random.randint(1, MOST_CAUSES)
        causes = [PlantedCause(values) for values in self._values(number, count, is_module, has_closure)]
        reads = sum(not value.is_switch for cause in causes for value in cause.values)
        breaks_before = self.random.randrange(reads) if reads and self.random.random() < 0.25 else -1
        helped = frozenset(place for place in range(reads) if self.random.random() < 0.2)
        return PlantedFunction(f"f{number}", causes, is_module, has_closure, breaks_before, helped)

    def _values(self, function: int, count: int, is_module: bool, has_closure: bool) -> Iterator[list[Value]]:
        """Yield the values of each cause. At most one cause is a state of the call: all states are seen at calls."""
        letters = iter("abcdefgh")
        switched = self.random.randrange(count) if self.random.random() < 0.5 else -1
        for index in range(count):
            if index == switched:
                allowed = _SWITCHES if is_module else tuple(switch for switch in _SWITCHES if switch != "training")
                yield [Value("", self.random.choice(allowed), "")]
                continue
            size = 2 if self.random.random() < 0.2 else 1
            names = [f"{next(letters)}{function}" for _ in range(size)]
            yield [self._value(name, is_module, has_closure, size > 1) for name in names]

    def _value(self, name: str, is_module: bool, has_closure: bool, is_of_pair: bool) -> Value:
        template = self.random.choice(sorted(_NEVER_SEEN if is_of_pair else TEMPLATES))
        places = [
            place
            for place in TEMPLATES[template].places
            if (place != "attribute" or is_module) and (place != "closure" or has_closure)
        ]
        return Value(f"v{name}", template, self.random.choice(places))

    def _write(self, line: str) -> int:
        self._lines.append(line)
        return len(self._lines)

    def _define(self, function: PlantedFunction) -> None:
        """Write a function, its helpers, and the objects that hold its values."""
        reads = [(cause, value) for cause in function.causes for value in cause.values if not value.is_switch]
        self.random.shuffle(reads)
        self._write("")
        for place in sorted(function.in_helper):
            cause, value = reads[place]
            self._write(f"def help_{value.name}(y, {value.name}):")
            cause.lines.add(self._write("    " + _read(value, value.name)))
            self._write("    return y")
        self._hold(function)
        names = [value.name for value in function.values if value.place == "argument"]
        names += ["cfg"] if any(value.place == "object" for value in function.values) else []
        first = "self, x" if function.is_module else "x"
        margin = "    " if function.is_module or function.has_closure else ""
        head = "forward" if function.is_module else function.name
        self._write(f"{margin}def {head}({', '.join([first, *names])}):")
        self._write(f"{margin}    y = x * 2")
        for place, (cause, value) in enumerate(reads):
            if place == function.breaks_before:
                self._write(f"{margin}    torch._dynamo.graph_break()")
            known = _spelled(value)
            if place in function.in_helper:
                cause.lines.add(self._write(f"{margin}    y = help_{value.name}(y, {known})"))
            else:
                cause.lines.add(self._write(f"{margin}    {_read(value, known)}"))
        dropout = " + torch.dropout(y, 0.5, self.training)" if function.is_module else ""
        last = self._write(f"{margin}    return y{dropout}")
        for cause in function.causes:
            # Unlike other states of a call, the mode of a module is read by a line.
            cause.lines.update(last for value in cause.values if value.template == "training")
        self._compile(function)

    def _hold(self, function: PlantedFunction) -> None:
        """Write what holds the values that are no arguments."""
        for value in function.values:
            if value.place == "global":
                self._write(f"{value.name} = {value.text}")
        if any(value.place == "object" for value in function.values):
            self._write(f"class Settings{function.name}: pass")
            self._write(f"cfg_{function.name} = Settings{function.name}()")
        if function.is_module:
            self._write(f"class Module{function.name}(torch.nn.Module):")
        elif function.has_closure:
            self._write(f"def make_{function.name}():")
            closed = [value for value in function.values if value.place == "closure"]
            for value in closed:
                self._write(f"    {value.name} = {value.text}")
                self._write(f"    def set_{value.name}(new):")
                self._write(f"        nonlocal {value.name}")
                self._write(f"        {value.name} = new")

    def _compile(self, function: PlantedFunction) -> None:
        name = function.name
        if function.is_module:
            self._write(f"m_{name} = Module{name}()")
            self._write(f"{name} = torch.compile(m_{name}, backend='eager')")
        elif function.has_closure:
            setters = [f"set_{value.name}" for value in function.values if value.place == "closure"]
            self._write(f"    return {', '.join([name, *setters])}")
            names = ", ".join([name, *setters])
            self._write(f"{names} = make_{name}()")
            self._write(f"{name} = torch.compile({name}, backend='eager')")
        else:
            self._write(f"{name} = torch.compile({name}, backend='eager')")
        for value in function.values:
            self._set(function, value)

    def _set(self, function: PlantedFunction, value: Value) -> None:
        """Write the statement that gives a value its present state, if it is kept outside of the call."""
        match value.place:
            case "global":
                self._write(f"{value.name} = {value.text}")
            case "attribute":
                self._write(f"m_{function.name}.{value.name} = {value.text}")
            case "object":
                self._write(f"cfg_{function.name}.{value.name} = {value.text}")
            case "closure":
                self._write(f"set_{value.name}({value.text})")

    def _schedule(self) -> Iterator[tuple[PlantedFunction, int]]:
        """Yield what each call changes: each cause once before a function may reach the limit, then some again."""
        firsts = [(function, number) for function in self.functions for number in range(len(function.causes))]
        self.random.shuffle(firsts)
        again = []
        for function in self.functions:
            room = MOST_CHANGES - len(function.causes) if self.random.random() < 0.3 else 7 - len(function.causes)
            count = self.random.randint(0, room)
            again += [(function, self.random.randrange(len(function.causes))) for _ in range(count)]
        self.random.shuffle(again)
        early, late = again[: len(again) // 3], again[len(again) // 3 :]
        counts = {function.name: 0 for function in self.functions}
        for function, _ in early:
            counts[function.name] += 1
        early = [(function, number) for function, number in early if counts[function.name] + len(function.causes) <= 7]
        mixed = firsts + early
        self.random.shuffle(mixed)
        yield from mixed
        yield from late

    def _call(self, function: PlantedFunction, number: int | None) -> None:
        """Write a call that changes one cause, and the line that says so."""
        changed = function.causes[number].values if number is not None else []
        for value in changed:
            value.state += 1
            if not value.is_switch:
                self._set(function, value)
        given = [f"{value.name}={value.text}" for value in function.values if value.place == "argument"]
        given += [f"cfg=cfg_{function.name}"] if any(value.place == "object" for value in function.values) else []
        switches = {value.template: value for value in function.values if value.is_switch}
        if "training" in switches:
            self._write(f"m_{function.name}.train({switches['training'].state % 2 == 0})")
        is_double = "dtype" in switches and switches["dtype"].state % 2
        if is_double:
            self._write("torch.set_default_dtype(torch.float64)")
        context = "".join(_CONTEXTS[name](value.state) for name, value in switches.items() if name in _CONTEXTS)
        line = self._write(f"{context}{function.name}({', '.join(['X', *given])})")
        if is_double:
            self._write("torch.set_default_dtype(torch.float32)")
        if number is not None and any(value.is_switch and value.template != "training" for value in changed):
            function.causes[number].lines.add(line)
        self._write(f"CHANGED({function.name!r}, {number})")


def _spelled(value: Value) -> str:
    """Return a value as its function writes it."""
    return {"attribute": f"self.{value.name}", "object": f"cfg.{value.name}"}.get(value.place, value.name)


def _read(value: Value, known: str) -> str:
    return TEMPLATES[value.template].read.format(v=known, n=f"n{value.name}")
