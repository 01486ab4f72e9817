"""A tree that is finished has none of the pipeline's own nodes."""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.lift.nodes import MatchTest
from depyf.decompiler.passes.flow.complete import check_complete
from depyf.decompiler.structure.labels import TryStmt
from depyf.decompiler.structure.unstructured import Unstructured
from tests.decompiler.parsed import parsed

TEST = MatchTest(subject=ast.Name(id="a", ctx=ast.Load()), pattern=ast.MatchAs())
TRY = TryStmt(body=[], handler=[], orelse=[], exc=1, is_finally=False)


def test_a_finished_tree() -> None:
    check_complete(parsed("if a: b"), has_patterns=True)
    check_complete(parsed("if a: b"), has_patterns=False)


def test_a_pattern_outside_of_a_case() -> None:
    """Expressions are looked through only where the code has patterns."""
    body = parsed("if t: b", nodes={"t": TEST})
    with pytest.raises(Unstructured, match="MatchTest"):
        check_complete(body, has_patterns=True)
    check_complete(body, has_patterns=False)


@pytest.mark.parametrize("has_patterns", [True, False])
def test_a_statement_of_the_pipeline(has_patterns: bool) -> None:
    with pytest.raises(Unstructured, match="TryStmt"):
        check_complete([ast.If(test=ast.Constant(value=1), body=[TRY], orelse=[])], has_patterns=has_patterns)
