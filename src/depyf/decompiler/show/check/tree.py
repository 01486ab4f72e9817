"""Invariants of nested items and of statements."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from depyf.decompiler.emit.expressions import RULES as EXPRESSIONS
from depyf.decompiler.emit.statements import RULES as STATEMENTS
from depyf.decompiler.lift.nodes import Interpolation, TypeParam
from depyf.decompiler.passes.walk import nodes
from depyf.decompiler.structure.tree import For, Item, Jump, Label, Loop, children

NOT_EMPTY = ("body",)
PARTS = (ast.FormattedValue, Interpolation, TypeParam)
"""Nodes that their parents write."""


def broken_items(items: Sequence[Item], end: int) -> Iterator[str]:
    """Yield the broken invariants of nested items.

    - An item has one place.
    - An unfilled jump leads to a label, to a loop, or to the end of the code.
    """
    seen: set[int] = set()
    places = {end}
    jumps: list[Jump] = []
    work = list(items)
    while work:
        item = work.pop()
        if id(item) in seen:
            yield f"{type(item).__name__} has two places"
            continue
        seen.add(id(item))
        match item:
            case Label(label):
                places.add(label)
            case Loop() | For():
                places.update((item.header, item.done))
            case Jump(label, body):
                places.update((label,) if body is not None else ())
                jumps += [item] if body is None else []
            case _:
                pass
        for sequence in children(item):
            work.extend(sequence)
    for jump in jumps:
        if jump.label not in places:
            yield f"a jump to {jump.label} leads nowhere"


def broken_statements(stmts: list[ast.stmt], *, finished: bool) -> Iterator[str]:
    """Yield the broken invariants of statements.

    - A statement has one place, and a compound statement contains at least one statement.
    - After all passes, every node has a Python syntax.

    Args:
        stmts: the statements.
        finished: whether all passes have run.
    """
    seen: set[int] = set()
    for node in nodes(stmts):
        if isinstance(node, ast.stmt):
            if id(node) in seen:
                yield f"{type(node).__name__} has two places"
            seen.add(id(node))
            for field in NOT_EMPTY:
                if getattr(node, field, None) == []:
                    yield f"the {field} of {type(node).__name__} is empty"
        if finished and isinstance(node, (ast.stmt, ast.expr)) and not _has_syntax(node):
            yield f"{type(node).__name__} has no syntax"


def _has_syntax(node: ast.AST) -> bool:
    if isinstance(node, PARTS):
        return True
    return any(kind in EXPRESSIONS or kind in STATEMENTS for kind in type(node).__mro__)
