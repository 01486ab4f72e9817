"""Walk and rewrite statement trees without recursion.

The fields with children are cached by node type: most types have none, and are skipped after one lookup.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from depyf.decompiler.lift.nodes import Object, Ref, Temp

Stmts = list[ast.stmt]

BODIES = ("body", "orelse", "finalbody", "handler")
PARTS = ("handlers", "cases")
"""Fields of statements whose parts have a body each."""


class _Nests(dict[type[ast.stmt], tuple[tuple[str, ...], tuple[str, ...]] | None]):
    """By type of statement, which of BODIES and of PARTS it has; most have neither."""

    def __missing__(self, kind: type[ast.stmt]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        bodies, parts = (tuple(name for name in names if name in kind._fields) for names in (BODIES, PARTS))
        self[kind] = fields = (bodies, parts) if bodies or parts else None
        return fields


NESTS = _Nests()


def inner(stmt: ast.stmt) -> list[tuple[Stmts, ast.AST, str]]:
    """Return the sequences of statements directly inside a statement, each with the node and the field that hold it."""
    nests = NESTS[type(stmt)]
    if nests is None:
        return []
    bodies, parts = nests
    fields = stmt.__dict__
    sequences: list[tuple[Stmts, ast.AST, str]] = [(fields[name], stmt, name) for name in bodies if fields.get(name)]
    for name in parts:
        sequences += [(part.body, part, "body") for part in fields[name]]
    return sequences


def below(stmt: ast.stmt) -> list[Stmts]:
    """Return the sequences of statements directly inside a statement."""
    nests = NESTS[type(stmt)]
    if nests is None:
        return []
    bodies, parts = nests
    fields = stmt.__dict__
    sequences: list[Stmts] = [fields[name] for name in bodies if fields.get(name)]
    for name in parts:
        sequences += [part.body for part in fields[name]]
    return sequences


def compound(block: Stmts) -> Stmts:
    """Return the statements of a block that may contain other statements."""
    nests = NESTS
    return [stmt for stmt in block if nests[type(stmt)]]


def blocks(body: Stmts) -> list[Stmts]:
    """Return `body` and all nested sequences of statements, outer ones first."""
    sequences = [body]
    for block in sequences:  # The list grows during the iteration.
        for stmt in compound(block):
            sequences += below(stmt)
    return sequences


def compounds(body: Stmts) -> Stmts:
    """Return all statements in `body` that may contain other statements, in source order."""
    stmts: Stmts = []
    work = compound(body)
    work.reverse()
    while work:
        stmt = work.pop()
        stmts.append(stmt)
        for block in reversed(below(stmt)):
            nested = compound(block)
            nested.reverse()
            work += nested
    return stmts


def rewrite_sequences(body: Stmts, rewrite: Callable[[Stmts], Stmts]) -> Stmts:
    """Apply `rewrite` to every sequence of statements, inner ones first; return the new outermost."""
    order: list[tuple[Stmts, ast.AST, str]] = []
    work = [body]
    for sequence in work:  # The list grows during the iteration.
        for stmt in compound(sequence):
            sequences = inner(stmt)
            order += sequences
            work += below(stmt)
    for sequence, owner, name in reversed(order):
        setattr(owner, name, rewrite(sequence))
    return rewrite(body)


def statements(body: Stmts) -> list[ast.stmt]:
    """Return every statement in `body`, in the order of the source."""
    nests = NESTS
    if not compound(body):
        return body[:]
    ordered: list[ast.stmt] = []
    work = body[::-1]
    while work:
        stmt = work.pop()
        ordered.append(stmt)
        if nests[type(stmt)]:
            for sequence in reversed(below(stmt)):
                work += sequence[::-1]
    return ordered


def holds(body: Stmts, *kinds: type[ast.stmt]) -> bool:
    """Return whether any statement in `body` is of exactly one of these kinds."""
    return any(type(stmt) in kinds for stmt in statements(body))


class _Inner(dict[type, tuple[str, ...]]):
    """By type of node, the fields that may contain other nodes; empty for other objects."""

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


def nodes(body: Iterable[ast.AST]) -> list[ast.AST]:
    """Return every node in `body` in the order of the source, parents first, without operators and contexts."""
    asts: list[ast.AST] = []
    work = list(body)
    work.reverse()
    fields = INNER
    while work:
        node = work.pop()
        asts.append(node)
        if names := fields[type(node)]:
            inside: list[ast.AST] = []
            for name in names:
                value = getattr(node, name, None)
                if type(value) is list:
                    inside += [item for item in value if isinstance(item, ast.AST)]
                elif value is not None and isinstance(value, ast.AST):
                    inside.append(value)
            inside.reverse()
            work += inside
    return asts


def children(node: ast.AST) -> list[ast.AST]:
    """Return the direct children of a node, without operators and contexts."""
    inside: list[ast.AST] = []
    for name in INNER[type(node)]:
        value = getattr(node, name, None)
        if type(value) is list:
            inside += [item for item in value if isinstance(item, ast.AST)]
        elif value is not None and isinstance(value, ast.AST):
            inside.append(value)
    return inside


def of_kinds(body: Iterable[ast.AST], kinds: frozenset[type]) -> list[Any]:
    """Return the nodes of exactly these kinds in `body`, parents before children, otherwise unordered."""
    work = list(body)
    matching: list[Any] = [node for node in work if type(node) in kinds]
    held = INNER
    for node in work:  # The list grows during the iteration.
        for value in node.__dict__.values():
            kind = type(value)
            if kind is list:
                for item in value:
                    kind = type(item)
                    if kind in kinds:
                        matching.append(item)
                    if held[kind]:
                        work.append(item)
            else:
                if kind in kinds:
                    matching.append(value)
                if held[kind]:
                    work.append(value)
    return matching


Slot = tuple[Any, Any]
"""A list and a place in it, or a node and the name of a field."""


def rewrite_expressions(
    body: Sequence[ast.stmt], rewrite: Callable[[ast.expr], ast.expr], kinds: frozenset[type[ast.expr]]
) -> None:
    """Replace every expression of some kinds, inner ones first.

    Within a node, and from node to node, replacements are in the order of the source.

    Args:
        body: the statements, changed in place.
        rewrite: returns the new expression for an old one.
        kinds: the exact types of the expressions.
    """
    for slots in reversed(_slots(body, kinds)):
        for owner, place in slots:
            if type(owner) is list:
                owner[place] = rewrite(owner[place])
            else:
                setattr(owner, place, rewrite(getattr(owner, place)))


def _slots(body: Sequence[ast.stmt], kinds: frozenset[type[ast.expr]]) -> list[list[Slot]]:
    """Return, node by node, the places directly inside it that hold an expression of these kinds."""
    by_node: list[list[Slot]] = []
    work: list[ast.AST] = list(reversed(body))
    held = INNER
    while work:
        node = work.pop()
        inside: list[ast.AST] = []
        slots: list[Slot] = []
        fields = node.__dict__
        for name in held[type(node)]:
            value: Any = fields.get(name)
            kind = type(value)
            if kind is list:
                for place, item in enumerate(value):
                    kind = type(item)
                    if held[kind]:
                        inside.append(item)
                    if kind in kinds:
                        slots.append((value, place))
            else:
                if held[kind]:
                    inside.append(value)
                if kind in kinds:
                    slots.append((node, name))
        if slots:
            by_node.append(slots)
        if inside:
            inside.reverse()
            work += inside
    return by_node
