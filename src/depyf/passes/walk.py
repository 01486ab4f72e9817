"""Walk and rewrite statement trees without recursion."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from depyf.lift.nodes import Object, Ref, Temp

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


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield every statement in `body`, in the order of the source."""
    work: list[ast.stmt] = body[::-1]
    while work:
        stmt = work.pop()
        yield stmt
        for inner, _ in reversed(list(_inner(stmt))):
            work.extend(reversed(inner))


class _Inner(dict[type, tuple[str, ...]]):
    """By type of node, the fields that other nodes may stand in; what is no node has none."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        fields: tuple[str, ...] = ()
        if issubclass(kind, ast.AST) and not issubclass(kind, LEAVES):
            fields = tuple(name for name in kind._fields if name not in NO_NODES)
        self[kind] = fields
        return fields


LEAVES = (ast.Constant, ast.Name, Temp, Object, Ref)
NO_NODES = frozenset({"ctx", "op", "ops", "id", "attr", "level", "simple", "conversion", "type_comment", "lineno"})
"""Fields without expressions or statements: names and numbers, and the operators."""
INNER = _Inner()


def nodes(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield every node in `body`, parents before children; operators and contexts are none."""
    work: list[ast.AST] = list(reversed(body))
    while work:
        node = work.pop()
        yield node
        if INNER[type(node)]:
            work.extend(reversed(children(node)))


def children(node: ast.AST) -> list[ast.AST]:
    """Return the nodes right inside a node; operators and contexts are none."""
    found: list[ast.AST] = []
    for name in INNER[type(node)]:
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            found.append(value)
        elif isinstance(value, list):
            found.extend([item for item in value if isinstance(item, ast.AST)])
    return found


Slot = tuple[Any, Any]
"""A list and a place in it, or a node and the name of a field."""


def rewrite_expressions(
    body: list[ast.stmt], rewrite: Callable[[ast.expr], ast.expr], kinds: frozenset[type[ast.expr]]
) -> None:
    """Replace every expression of these kinds below `body` by what `rewrite` makes of it, inner ones first."""
    for slots in reversed(_slots(body, kinds)):
        for owner, place in slots:
            if isinstance(owner, list):
                owner[place] = rewrite(owner[place])
            else:
                setattr(owner, place, rewrite(getattr(owner, place)))


def _slots(body: list[ast.stmt], kinds: frozenset[type[ast.expr]]) -> list[list[Slot]]:
    """Return, node by node, the places right inside it that hold an expression of these kinds."""
    found: list[list[Slot]] = []
    work: list[ast.AST] = list(reversed(body))
    while work:
        node = work.pop()
        inner: list[ast.AST] = []
        slots: list[Slot] = []
        for name in INNER[type(node)]:
            value: Any = getattr(node, name, None)
            if isinstance(value, list):
                inner += [item for item in value if INNER[type(item)]]
                slots += [(value, place) for place, item in enumerate(value) if type(item) in kinds]
            else:
                if INNER[type(value)]:
                    inner.append(value)
                if type(value) in kinds:
                    slots.append((node, name))
        if slots:
            found.append(slots)
        inner.reverse()
        work += inner
    return found
