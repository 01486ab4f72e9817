"""Replace names that a source cannot contain.

Before: o.<x y> = f(<class>=1); def <a\\nimport os>(): ...
After:  o.x_y = f(class_2=1); def a_import_os(): ...

`Names` keeps the real name. Such a name is never written as text: a line break in it would begin a new line.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from depyf.bytecode.listing import Listing
from depyf.decompiler.lift.nodes import TypeParam
from depyf.decompiler.lift.writable import is_writable

FIELDS: tuple[tuple[type[ast.AST], tuple[str, ...]], ...] = (
    (ast.Attribute, ("attr",)),
    (ast.keyword, ("arg",)),
    (ast.arg, ("arg",)),
    (ast.Name, ("id",)),
    (ast.ExceptHandler, ("name",)),
    (ast.MatchAs, ("name",)),
    (ast.MatchStar, ("name",)),
    (ast.MatchMapping, ("rest",)),
    (ast.MatchClass, ("kwd_attrs",)),
    (ast.FunctionDef, ("name",)),
    (ast.AsyncFunctionDef, ("name",)),
    (ast.ClassDef, ("name",)),
    (ast.Global, ("names",)),
    (ast.Nonlocal, ("names",)),
    (ast.alias, ("name", "asname")),
    (ast.ImportFrom, ("module",)),
    (TypeParam, ("name",)),
)
"""The fields that hold names, by kind of node; those of imports may be dotted."""
NAMING = frozenset({"CALL_KW", "MATCH_CLASS", "IMPORT_NAME", "IMPORT_LAZY"})
"""Operations that take names from a constant."""


class _Holding(dict[type, tuple[str, ...]]):
    """By type of node, the fields that hold names."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        self[kind] = fields = next((fields for base, fields in FIELDS if issubclass(kind, base)), ())
        return fields


HOLDING = _Holding()
DOTTED = (ast.alias, ast.ImportFrom)
MADE = ("<module>", "<lambda>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<generic parameters of ")
"""Prefixes of code names that never occur in a source."""


def are_writable(rows: list[Listing]) -> bool:
    """Return whether a source can contain all names of these listings and of their code."""
    names: set[str] = set()
    for listing in rows:
        code = listing.code
        names.update(code.names, code.varnames, code.cellvars, code.freevars)
        if not NAMING.isdisjoint(listing.ops):
            names.update(_named(listing))
        if not code.name.startswith(MADE):
            names.add(code.name)
    return all(all(map(is_writable, name.lstrip(".").split("."))) for name in names if not name[1:].isdigit())


def _named(listing: Listing) -> list[str]:
    """Return the names that operations take from a constant: the one before them, or any in program-written code."""
    items = listing.instructions
    names = []
    for place, item in enumerate(items):
        if item.op in NAMING:
            is_next = place > 0 and items[place - 1].op == "CONST"
            for const in (items[place - 1].arg,) if is_next else listing.code.consts:
                names += _texts(const)
    return names


def _texts(const: object) -> list[str]:
    """Return the items of a constant that may be names of arguments or attributes, if all are strings."""
    items = const if type(const) is tuple else ()
    texts = [item for item in items if isinstance(item, str)]
    return [text for text in texts if text != "*"] if len(texts) == len(items) else []


def write_identifiers(stmts: list[ast.stmt], named: Callable[[str], str]) -> None:
    """Replace every name that is not an identifier in some statements.

    Args:
        named: returns the identifier for a name.
    """

    def written(name: str) -> str:
        return name if is_writable(name) else named(name)

    seen: set[int] = set()
    work: list[object] = list(stmts)
    while work:
        node = work.pop()
        if isinstance(node, (list, tuple)):
            work += node
        elif isinstance(node, ast.AST) and id(node) not in seen:
            seen.add(id(node))
            if fields := HOLDING[type(node)]:
                _rename(node, fields, written)
            work += vars(node).values()


def _rename(node: ast.AST, fields: tuple[str, ...], written: Callable[[str], str]) -> None:
    for field in fields:
        value = getattr(node, field)
        if isinstance(value, list):
            setattr(node, field, [written(name) for name in value])
        elif isinstance(value, str) and isinstance(node, DOTTED):
            if value != "*":
                setattr(node, field, ".".join(map(written, value.split("."))))
        elif isinstance(value, str):
            setattr(node, field, written(value))
