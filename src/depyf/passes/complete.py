"""Check that every node of the structure has become a statement."""

from __future__ import annotations

import ast

from depyf.lift.nodes import MatchTest
from depyf.passes.walk import of_kinds
from depyf.structure.labels import ForStmt, TryStmt, WithStmt
from depyf.structure.tree import Enter, ReraiseStmt
from depyf.structure.unstructured import Unstructured

OURS: frozenset[type] = frozenset({MatchTest, Enter, ReraiseStmt, ForStmt, TryStmt, WithStmt})


def check_complete(body: list[ast.stmt]) -> None:
    """Raise Unstructured if a node is left that Python has no statement for."""
    for node in of_kinds(body, OURS):
        raise Unstructured(f"{type(node).__name__} is left over")
