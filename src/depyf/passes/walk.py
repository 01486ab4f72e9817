"""Walk and rewrite statement trees without recursion."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

BODIES = ("body", "orelse", "finalbody", "handler")


def sequences(body: list[ast.stmt]) -> Iterator[tuple[list[ast.stmt], Callable[[list[ast.stmt]], None] | None]]:
    """Yield every sequence of statements below `body` and a function that replaces it, inner ones first.

    `body` itself comes last, with None: the caller replaces it.
    """
    order: list[tuple[list[ast.stmt], Callable[[list[ast.stmt]], None] | None]] = [(body, None)]
    place = 0
    while place < len(order):
        for stmt in order[place][0]:
            order.extend(_inner(stmt))
        place += 1
    yield from reversed(order)


def _inner(stmt: ast.AST) -> Iterator[tuple[list[ast.stmt], Callable[[list[ast.stmt]], None]]]:
    for name in BODIES:
        inner = getattr(stmt, name, None)
        if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
            yield inner, _setter(stmt, name)
    for name in ("handlers", "cases"):
        for part in getattr(stmt, name, ()):
            yield part.body, _setter(part, "body")


def _setter(owner: ast.AST, name: str) -> Callable[[list[ast.stmt]], None]:
    def replace(new: list[ast.stmt]) -> None:
        setattr(owner, name, new)

    return replace


def rewrite_sequences(body: list[ast.stmt], rewrite: Callable[[list[ast.stmt]], list[ast.stmt]]) -> list[ast.stmt]:
    """Apply `rewrite` to every sequence of statements, inner ones first; return the new outermost."""
    new = body
    for sequence, replace in sequences(body):
        new = rewrite(sequence)
        if replace is not None:
            replace(new)
    return new


def nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield every node below `body`, parents before children."""
    work: list[ast.AST] = list(reversed(body))
    while work:
        node = work.pop()
        yield node
        work.extend(reversed(list(ast.iter_child_nodes(node))))


def rewrite_expressions(body: list[ast.stmt], rewrite: Callable[[ast.expr], ast.expr]) -> None:
    """Replace every expression below `body` by what `rewrite` makes of it, inner ones first."""
    order = list(nodes(body))
    for node in reversed(order):
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, ast.expr):
                new = rewrite(value)
                if new is not value:
                    setattr(node, name, new)
            elif isinstance(value, list):
                for place, item in enumerate(value):
                    if isinstance(item, ast.expr):
                        value[place] = rewrite(item)
