"""Nested items and unfinished statements as text: Python syntax if there is one, and the pipeline's own nodes.

loop 4:
    if <v3>:
        goto 7
label 7:
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import cast

from depyf.bytecode.code import Code
from depyf.decompiler.emit import expressions, statements
from depyf.decompiler.emit.expressions import ExpressionWriter, Piece
from depyf.decompiler.emit.grammar import Grammar
from depyf.decompiler.emit.patterns import pattern_source
from depyf.decompiler.emit.precedence import ATOM, TEST
from depyf.decompiler.emit.statements import Part, StatementWriter
from depyf.decompiler.lift.nodes import Entry, Ref, Temp
from depyf.decompiler.show.graph import name
from depyf.decompiler.structure.labels import ForStmt, TryStmt, WithStmt
from depyf.decompiler.structure.tree import Enter, For, If, Item, Jump, Label, Loop, ReraiseStmt, Try, WithBody

Written = Sequence[Item] | Sequence[ast.stmt]


def text(body: Written, grammar: Grammar) -> str:
    """Return items or statements as text, nested ones indented; an empty sequence is `pass`."""
    return TreeWriter(grammar, STATEMENTS).write(cast("Sequence[ast.stmt]", body or [ast.Pass()]))


class TreeWriter(StatementWriter):
    """Writes the pipeline's own nodes too."""

    def __init__(self, grammar: Grammar, rules: Rules) -> None:
        super().__init__(grammar, rules)
        self.expressions.rules = EXPRESSIONS


# -- expressions -----------------------------------------------------------------------


def _temp(writer: ExpressionWriter, node: Temp) -> tuple[list[Piece], int]:
    return [name(node.temp)], ATOM


def _ref(writer: ExpressionWriter, node: Ref) -> tuple[list[Piece], int]:
    """Write the value of a reference, or the name of its temporary while the value is unknown."""
    value = node.entry.replacement
    return [name(node.entry.temp) if value is None else (value, ATOM)], ATOM


def _node(writer: ExpressionWriter, node: ast.expr) -> tuple[list[Piece], int]:
    """Write a node of the pipeline: its name and its fields."""
    pieces: list[Piece] = [f"<{type(node).__name__}"]
    for field, held in vars(node).items():
        if isinstance(held, ast.expr):
            pieces += [f" {field}=", (held, TEST)]
        elif isinstance(held, Code):
            pieces.append(f" {field}={held.qualname}")
        elif isinstance(held, list) and all(isinstance(item, ast.expr) for item in held):
            for item in held:
                pieces += [" ", (item, TEST)]
        elif isinstance(held, (str, int)) and field not in POSITIONS:
            pieces.append(f" {field}={held!r}")
        elif isinstance(held, Entry):
            pieces.append(f" {name(held.temp)}")
        elif isinstance(held, ast.pattern):
            pieces.append(f" {field}={pattern_source(writer, held)}")
    return [*pieces, ">"], ATOM


POSITIONS = frozenset({"row", "lineno", "col_offset", "end_lineno", "end_col_offset"})
EXPRESSIONS: dict[type, expressions.Rule] = {
    **expressions.RULES,
    Temp: _temp,  # type: ignore[dict-item]
    Ref: _ref,  # type: ignore[dict-item]
    ast.expr: _node,
}
"""How to write each expression; `ast.expr` stands for all without a source form."""


# -- statements and items -----------------------------------------------------------------


def _inside(head: str, body: Written, depth: int) -> list[Part]:
    return [head, (cast("Sequence[ast.stmt]", body or [ast.Pass()]), depth + 1)]


def _otherwise(head: str, body: Written, depth: int) -> list[Part]:
    return _inside(head, body, depth) if body else []


def _jump(writer: StatementWriter, item: Jump, depth: int) -> list[Part]:
    if item.body is None:
        return [f"goto {item.label}"]
    return [f"# {item.label}", (cast("Sequence[ast.stmt]", item.body), depth)]


def _label(writer: StatementWriter, item: Label, depth: int) -> list[Part]:
    return [f"label {item.label}:"]


def _if(writer: StatementWriter, item: If, depth: int) -> list[Part]:
    head = f"if {writer.text(item.test)}:"
    return [*_inside(head, item.body, depth), *_otherwise("else:", item.orelse, depth)]


def _loop(writer: StatementWriter, item: Loop, depth: int) -> list[Part]:
    test = "" if item.test is None else f" while {writer.text(item.test)}"
    return [*_inside(f"loop {item.header}{test}:", item.body, depth), *_otherwise("done:", item.orelse, depth)]


def _for(writer: StatementWriter, item: For, depth: int) -> list[Part]:
    word = "async for" if item.is_async else "for"
    head = f"loop {item.header} {word} {writer.text(item.value)} in {writer.text(item.iterator)}:"
    return [*_inside(head, item.body, depth), *_otherwise("done:", item.orelse, depth)]


def _for_stmt(writer: StatementWriter, stmt: ForStmt, depth: int) -> list[Part]:
    word = "async for" if stmt.is_async else "for"
    head = f"{word} {writer.text(stmt.value)} in {writer.text(stmt.iterator)}:"
    return [*_inside(head, stmt.body, depth), *_otherwise("else:", stmt.orelse, depth)]


def _try(writer: StatementWriter, item: Try | TryStmt, depth: int) -> list[Part]:
    kind = "finally" if item.is_finally else "except*" if getattr(item, "is_star", False) else "except"
    parts = [*_inside("try:", item.body, depth), *_otherwise("else:", item.orelse, depth)]
    return [*parts, *_inside(f"{kind} <{name(item.exc)}>:", item.handler, depth)]


def _with_body(writer: StatementWriter, item: WithBody, depth: int) -> list[Part]:
    parts = _inside(f"with <exit {name(item.exit)}>:", item.body, depth)
    return [*parts, *_otherwise("suppressed:", item.suppressed, depth)]


def _with_stmt(writer: StatementWriter, stmt: WithStmt, depth: int) -> list[Part]:
    return _inside(f"with <exit {name(stmt.exit)}>:", stmt.body, depth)


def _enter(writer: StatementWriter, stmt: Enter, depth: int) -> list[Part]:
    word = "enter async" if stmt.is_async else "enter"
    return [f"{word} {writer.text(stmt.manager)} -> exit {name(stmt.exit)}, value {name(stmt.value)}"]


def _reraise(writer: StatementWriter, stmt: ReraiseStmt, depth: int) -> list[Part]:
    return [f"reraise {name(stmt.exc)}"]


def _stmt(writer: StatementWriter, stmt: ast.stmt, depth: int) -> list[Part]:
    return [f"<{type(stmt).__name__}>"]


Rules = dict[type, Callable[[StatementWriter, ast.stmt, int], list[Part]]]
STATEMENTS: Rules = {
    **statements.RULES,
    Jump: _jump,  # type: ignore[dict-item]
    Label: _label,  # type: ignore[dict-item]
    If: _if,  # type: ignore[dict-item]
    Loop: _loop,  # type: ignore[dict-item]
    For: _for,  # type: ignore[dict-item]
    ForStmt: _for_stmt,  # type: ignore[dict-item]
    Try: _try,  # type: ignore[dict-item]
    TryStmt: _try,  # type: ignore[dict-item]
    WithBody: _with_body,  # type: ignore[dict-item]
    WithStmt: _with_stmt,  # type: ignore[dict-item]
    Enter: _enter,  # type: ignore[dict-item]
    ReraiseStmt: _reraise,  # type: ignore[dict-item]
    ast.stmt: _stmt,
}
"""How to write each item and statement; `ast.stmt` stands for all without a source form."""
