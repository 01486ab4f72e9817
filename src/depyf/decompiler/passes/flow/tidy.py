"""Shorten: no `else` after a body that never falls through, no `pass` beside other statements.

Before: if c: return a          After: if c: return a
        else: b                        b

An `elif` keeps its `else`: otherwise the rest would be nested one level deeper, in another `else`.
"""

from __future__ import annotations

import ast

from depyf.decompiler.passes.conditions import structures
from depyf.decompiler.passes.groups import FLOW
from depyf.decompiler.passes.registry import Stage, registers
from depyf.decompiler.passes.walk import NESTS, inner, statements
from depyf.decompiler.steps import step
from depyf.decompiler.structure.polarity import keeps_polarity, negated

ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


@registers(
    "tidy",
    Stage.STATEMENTS,
    "remove each needless `else`",
    takes=("stmts", "in_order=graph.source_order"),
    optional=True,
    applies=structures,
    needs=FLOW,
    after={"expressions": "only finished tests and statements are compared"},
)
def tidy(body: list[ast.stmt], *, in_order: bool = False) -> None:
    """Tidy every sequence of statements in place, outer ones first, so that long chains stay linear.

    Args:
        in_order: each `break` and `continue` has its own code.
    """
    ending = _ending(body)
    work = [(body, False)]
    while work:
        stmts, is_elif = work.pop()
        place = 0
        while place < len(stmts):
            stmt = stmts[place]
            place += 1
            if isinstance(stmt, ast.If) and _guards(stmt):
                step("line {}: the exit comes first", stmt.lineno)
                stmt.test, stmt.body, stmt.orelse = negated(stmt.test), stmt.orelse, stmt.body
            if isinstance(stmt, ast.If) and not in_order and _end_alike(stmt):
                step("line {}: the common exit of both arms follows them", stmt.lineno)
                stmts.insert(place, stmt.body.pop())
                stmt.orelse.pop()
            if isinstance(stmt, ast.If) and stmt.orelse and stmt.body[-1] in ending and not is_elif:
                step("line {}: remove the `else` after a body that never falls through", stmt.lineno)
                stmts[place:place] = stmt.orelse
                stmt.orelse = []
            if NESTS[type(stmt)]:
                work += [(below, _is_elif(below, owner, name)) for below, owner, name in inner(stmt)]


def _end_alike(stmt: ast.If) -> bool:
    """Return whether both arms end with `break`, or both with `continue`, and the first does something before."""
    if not stmt.orelse or len(stmt.body) == 1:
        return False
    return type(stmt.body[-1]) is type(stmt.orelse[-1]) and isinstance(stmt.body[-1], (ast.Break, ast.Continue))


def _ending(body: list[ast.stmt]) -> set[ast.stmt]:
    """Return the statements that never fall through: exit statements, and an `if` with one in both arms."""
    ending: set[ast.stmt] = set()
    for stmt in reversed(statements(body)):
        if isinstance(stmt, ENDS):
            ending.add(stmt)
        elif isinstance(stmt, ast.If) and stmt.orelse and stmt.body[-1] in ending and stmt.orelse[-1] in ending:
            ending.add(stmt)
    return ending


def _is_elif(stmts: list[ast.stmt], owner: ast.AST, name: str) -> bool:
    """Return whether statements are written as the `elif` of their parent."""
    return name == "orelse" and isinstance(owner, ast.If) and len(stmts) == 1 and isinstance(stmts[0], ast.If)


def _guards(stmt: ast.If) -> bool:
    """Return whether the second arm is an exit that should come first, as in `if not c: return`."""
    if not stmt.orelse or not isinstance(stmt.orelse[-1], ENDS) or keeps_polarity(stmt.test):
        return False
    if getattr(stmt, "is_placed", False):
        return False
    return not isinstance(stmt.body[-1], ENDS) and len(stmt.orelse) <= len(stmt.body)
