"""Python limits the nesting of statements.

The compiler counts loops, `try`, `with` and handlers, 20 of them; the tokenizer counts indentation, 100 levels.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

BLOCKS = 20
INDENTS = 98
"""Two levels less than the tokenizer's limit, because the function itself is nested in something."""

FLAT = frozenset({ast.Assign, ast.AugAssign, ast.Expr, ast.Return, ast.Raise, ast.Pass, ast.Break, ast.Continue})
"""The common simple statements."""

Inner = tuple[list[ast.stmt], int]


def nests_too_deep(body: list[ast.stmt]) -> bool:
    """Return whether statements are nested deeper than Python compiles."""
    work: list[tuple[list[ast.stmt], int, int]] = [(body, 0, 0)]
    while work:
        stmts, blocks, indents = work.pop()
        if blocks > BLOCKS or indents > INDENTS:
            return True
        for stmt in stmts:
            for inner, added in _inner(stmt) if type(stmt) not in FLAT else ():
                # `elif` has the indentation of its `if`.
                chained = isinstance(stmt, ast.If) and len(inner) == 1 and isinstance(inner[0], ast.If)
                is_elif = chained and inner is stmt.orelse  # type: ignore[attr-defined]
                work.append((inner, blocks + added, indents + (not is_elif)))
    return False


def _inner(stmt: ast.stmt) -> Iterator[Inner]:
    """Yield the sequences inside a statement, and how many blocks the compiler counts around each."""
    match stmt:
        case ast.If():
            yield stmt.body, 0
            yield stmt.orelse, 0
        case ast.While() | ast.For() | ast.AsyncFor():
            yield stmt.body, 1
            yield stmt.orelse, 0
        case ast.With() | ast.AsyncWith():
            yield stmt.body, len(stmt.items)
        case ast.Try():
            final = bool(stmt.finalbody)
            yield stmt.body, final + bool(stmt.handlers)
            yield stmt.orelse, final
            yield stmt.finalbody, 1
            for clause in stmt.handlers:
                yield clause.body, final + 2
        case ast.Match():
            for case in stmt.cases:
                yield case.body, 0
        case _:
            pass
