"""The loop that torch runs in C++ when a compiled function is called: the first entry whose guards hold serves the call."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """One compiled version of a function: torch's compile id, when it may serve a call, and the code that does."""

    id: str
    guard: Callable[[Values, Values], bool]
    code: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Live:
    """What the text of a replica lacks and the process has.

    `globals` is the dict of the function's module, `closure` its cells by name, `order` gives torch's compile ids in
    the order in which torch asks the entries now: the one used last comes first.
    """

    code: types.CodeType
    globals: dict[str, Any]
    closure: Mapping[str, types.CellType]
    order: Callable[[], Sequence[str]]


class Dispatch:
    """All entries of one function, and what runs when none of them may.

    Calling it with the values of the parameters, in their order, does what torch does at a call of the function.
    """

    def __init__(self, name: str, entries: Iterable[Entry], otherwise: Callable[..., Any]) -> None:
        self.name = name
        self.entries = list(entries)
        self.otherwise = otherwise
        self.live: Live | None = None
        self.served: list[str | None] = []

    def attached(self, live: Live, entries: Iterable[Entry], otherwise: Callable[..., Any]) -> Dispatch:
        """Return the same table with the live code and values of one function, its closure included."""
        twin = Dispatch(self.name, entries, otherwise)
        twin.live, twin.served = live, self.served
        return twin

    def ordered(self) -> list[Entry]:
        """Return the entries in the order in which torch asks them: the newest first, then as they were used."""
        if self.live is None:
            return self.entries[::-1]
        rank = {id: at for at, id in enumerate(self.live.order())}
        return sorted((entry for entry in self.entries if entry.id in rank), key=lambda entry: rank[entry.id])

    def frame(self, arguments: Values) -> dict[str, Any]:
        """Return what torch's guards see as `L` when the function is entered with `arguments`."""
        if self.live is None:
            return dict(arguments)
        seen = dict(zip(parameters(self.live.code), arguments.values(), strict=True))
        for name, cell in self.live.closure.items():
            try:
                seen[name] = cell.cell_contents
            except ValueError:
                # An empty cell: the variable is unbound, and torch's guards do not find it either.
                continue
        return seen

    def globals(self) -> dict[str, Any]:
        """Return what torch's guards see as `G`."""
        return {} if self.live is None else self.live.globals

    def choose(self, frame: Values) -> Entry | None:
        """Return the entry that serves a call with these values of `L`, `None` if torch would compile a new one."""
        G = self.globals()
        return next((entry for entry in self.ordered() if entry.guard(frame, G)), None)

    def __call__(self, arguments: Values) -> Any:
        """Serve a call: `arguments` are the values of the parameters, `locals()` at the start of the function."""
        entry = self.choose(self.frame(arguments))
        self.served.append(entry.id if entry else None)
        function = entry.code if entry else self.otherwise
        code = self.live.code if self.live else getattr(function, "__code__", None)
        positional, named = call_arguments(code, list(arguments.values()))
        return function(*positional, **named)


def parameters(code: types.CodeType) -> tuple[str, ...]:
    """Return the names of the parameters of `code`, in the order of its local variables."""
    star, double_star = bool(code.co_flags & 0x04), bool(code.co_flags & 0x08)
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + star + double_star]


def call_arguments(code: types.CodeType | None, values: list[Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return the positional and the named arguments that give the parameters of `code` these `values`."""
    if code is None:
        return values, {}
    positional, rest = values[: code.co_argcount], values[code.co_argcount :]
    named = dict(zip(parameters(code)[code.co_argcount :], rest[: code.co_kwonlyargcount]))
    rest = rest[code.co_kwonlyargcount :]
    if code.co_flags & 0x04:
        positional += rest.pop(0)
    if code.co_flags & 0x08:
        named.update(rest.pop(0))
    return positional, named


def with_closure(function: types.FunctionType, live: Live, like: types.FunctionType | None) -> types.FunctionType:
    """Return `function` as a function of the live module, with its cells and with the defaults of `like`."""
    code = function.__code__
    cells = tuple(live.closure[name] for name in code.co_freevars)
    made = types.FunctionType(code, live.globals, code.co_name, like.__defaults__ if like else None, cells)
    made.__kwdefaults__ = like.__kwdefaults__ if like else None
    return made



