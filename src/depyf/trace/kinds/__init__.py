"""Parsers of torch's records, one a file: each registers itself by the name of the record that it parses.

    @parses("toy_cost")
    def note_cost(taken: Taken) -> None:
        taken.compile.toy_cost = int(taken.payload or 0)

So a new record is a file here, a row of the model, and a view if it is shown. The files are imported with the first
record of a compile.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from depyf.bytecode.records import dataclass
from depyf.model.run import Compile
from depyf.model.user_line import UserLine


@dataclass(frozen=True, slots=True)
class Taken:
    """A record of a compile.

    details: the fields of the record. payload: its text, or None if it has none.
    line_at: returns the line of a file by number, in a function.
    """

    compile: Compile
    details: Mapping[str, Any]
    payload: str | None
    line_at: Callable[[str, int, str], UserLine]


Parser = Callable[[Taken], None]
_PARSERS: dict[str, list[Parser]] = {}


def parses(*kinds: str) -> Callable[[Parser], Parser]:
    """Return a decorator that registers a parser for the records with these names."""

    def register(parser: Parser) -> Parser:
        for kind in kinds:
            _PARSERS.setdefault(kind, []).append(parser)
        return parser

    return register


def parsers_of(kind: str) -> list[Parser]:
    """Return the parsers of the records with a name."""
    return _all_parsers().get(kind, [])


@cache
def _all_parsers() -> Mapping[str, list[Parser]]:
    for module in pkgutil.iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    return _PARSERS
