"""The loop that torch runs in C++ when a compiled function is called: run the first entry whose guards hold."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from depyf.bytecode.records import dataclass

Values = Mapping[str, Any]

_STAR, _DOUBLE_STAR = 0x04, 0x08


@dataclass(frozen=True, slots=True)
class Entry:
    """One compiled version of a function: torch's compile id, its guard, and its code."""

    id: str
    guard: Callable[[Values, Values], bool]
    code: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Served:
    """The entry that served a call of a function; None if no entry matched and torch would compile a new one."""

    function: str
    entry: str | None


def _nothing() -> None:
    """Leave the globals unchanged."""


@dataclass(frozen=True, slots=True)
class Live:
    """The live objects that the text of a replica needs.

    `code` is the function's own code, `globals` the dict of its module, `closure` its cells by name. `order` returns
    torch's compile ids in the order in which torch checks the entries, the last used one first. `log` receives every
    served call. `settle` is called first at every call, and brings the globals up to date.
    """

    code: types.CodeType
    globals: dict[str, Any]
    closure: Mapping[str, types.CellType] = field(default_factory=dict)
    order: Callable[[], Sequence[str]] | None = None
    log: list[Served] = field(default_factory=list)
    settle: Callable[[], None] = _nothing


class Dispatch:
    """All entries of one function, and the fallback if none of them matches.

    Calling it with the values of the parameters, in order, does what torch does at a call of the function.
    """

    def __init__(self, name: str, entries: Iterable[Entry], otherwise: Callable[..., Any]) -> None:
        self.name = name
        self.entries = list(entries)
        self.otherwise = otherwise
        self.live: Live | None = None

    def attached(self, live: Live, entries: Iterable[Entry], otherwise: Callable[..., Any]) -> Dispatch:
        """Return the same table for a function of the process, with code that runs in the process.

        Args:
            live: the live objects that the entries need.
            entries: the entries to try, in order.
            otherwise: is called if no entry serves a call.
        """
        twin = Dispatch(self.name, entries, otherwise)
        twin.live = live
        return twin

    def ordered(self) -> list[Entry]:
        """Return the entries in torch's order of checking, without dropped ones."""
        if self.live is None or self.live.order is None:
            return self.entries[::-1]
        rank = {id: at for at, id in enumerate(self.live.order())}
        return sorted((entry for entry in self.entries if entry.id in rank), key=lambda entry: rank[entry.id])

    def frame(self, arguments: Values) -> dict[str, Any]:
        """Return the `L` of torch's guards for a call with `arguments`, in order."""
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
        """Return the `G` of torch's guards."""
        return {} if self.live is None else self.live.globals

    def choose(self, frame: Values) -> Entry | None:
        """Return the entry that serves a call with these values of `L`, or None if torch would compile a new one."""
        G = self.globals()
        return next((entry for entry in self.ordered() if entry.guard(frame, G)), None)

    def __call__(self, arguments: Values) -> object:
        """Serve a call. `arguments` are the values of the parameters: `locals()` at the start of the function."""
        if self.live is not None:
            self.live.settle()
        entry = self.choose(self.frame(arguments))
        if self.live is None:
            return (entry.code if entry else self.otherwise)(*arguments.values())
        self.live.log.append(Served(self.name, entry.id if entry else None))
        positional, named = call_arguments(self.live.code, list(arguments.values()))
        return (entry.code if entry else self.otherwise)(*positional, **named)


def parameters(code: types.CodeType) -> tuple[str, ...]:
    """Return the names of the parameters of `code`, in the order of its local variables."""
    stars = bool(code.co_flags & _STAR) + bool(code.co_flags & _DOUBLE_STAR)
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + stars]


def call_arguments(code: types.CodeType, values: list[Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return the positional and keyword arguments that give the parameters of `code` these `values`."""
    positional, rest = values[: code.co_argcount], values[code.co_argcount :]
    names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    named = dict(zip(names, rest, strict=False))
    rest = rest[code.co_kwonlyargcount :]
    if code.co_flags & _STAR:
        positional += rest.pop(0)
    if code.co_flags & _DOUBLE_STAR:
        named.update(rest.pop(0))
    return positional, named


def signature(code: types.CodeType, rename: Mapping[str, str]) -> str:
    """Return the parameters of `code` as they stand in a `def`, renamed by `rename`, without defaults."""
    names = [rename.get(name, name) for name in parameters(code)]
    end, keyword_end = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    parts = names[:end]
    if code.co_posonlyargcount:
        parts.insert(code.co_posonlyargcount, "/")
    rest = names[keyword_end:]
    if code.co_flags & _STAR:
        parts.append(f"*{rest.pop(0)}")
    elif code.co_kwonlyargcount:
        parts.append("*")
    parts += names[end:keyword_end]
    if code.co_flags & _DOUBLE_STAR:
        parts.append(f"**{rest.pop(0)}")
    return ", ".join(parts)
