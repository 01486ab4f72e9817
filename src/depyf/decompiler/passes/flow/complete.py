"""Check that every node of the structure has become a statement."""

from __future__ import annotations

import ast

from depyf.decompiler.lift.nodes import MatchTest
from depyf.decompiler.passes.conditions import structures
from depyf.decompiler.passes.groups import FLOW, HANDLERS, LOOPS, PATTERNS
from depyf.decompiler.passes.registry import Stage, registers
from depyf.decompiler.passes.walk import of_kinds, statements
from depyf.decompiler.structure.budget import nests_too_deep
from depyf.decompiler.structure.labels import ForStmt, TryStmt, WithStmt
from depyf.decompiler.structure.tree import Enter, ReraiseStmt
from depyf.decompiler.structure.unstructured import Unstructured

OURS: frozenset[type] = frozenset({MatchTest, Enter, ReraiseStmt, ForStmt, TryStmt, WithStmt})


@registers(
    "complete",
    Stage.STATEMENTS,
    "check that every node is a Python statement",
    takes=("stmts", "ops"),
    applies=structures,
    needs=FLOW,
)
def check_complete_of(stmts: list[ast.stmt], ops: frozenset[str]) -> None:
    """Raise Unstructured unless all statements are Python's, and not nested deeper than Python takes them."""
    if not (PATTERNS | HANDLERS | LOOPS).isdisjoint(ops):
        check_complete(stmts, has_patterns=not PATTERNS.isdisjoint(ops))
    if nests_too_deep(stmts):
        raise Unstructured("statements are nested deeper than Python takes them")


def check_complete(body: list[ast.stmt], *, has_patterns: bool = True) -> None:
    """Raise Unstructured for a node without a Python statement.

    Args:
        has_patterns: code without patterns cannot contain any of the pipeline's own expressions.
    """
    left = of_kinds(body, OURS) if has_patterns else [stmt for stmt in statements(body) if type(stmt) in OURS]
    if left:
        raise Unstructured(f"{type(left[0]).__name__} has no Python statement")
