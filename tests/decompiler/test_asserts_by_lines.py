"""What an assert holds, and what is a condition above it, is told by lines and columns."""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.lift.nodes import Common
from depyf.decompiler.passes.flow.asserts import restore_asserts
from tests.decompiler.placing import as_compiled

RAISE = "raise AssertionError"


def restored(form: str, source: str, *, has_columns: bool = True) -> str:
    body = as_compiled(form, source, has_columns=has_columns)
    for node in ast.walk(ast.Module(body, [])):
        if isinstance(node, ast.Name) and node.id == "AssertionError":
            node.__class__ = Common
        if isinstance(node, ast.Raise):
            node.lineno = 1 + source.split("assert")[0].count("\n")
    module = ast.fix_missing_locations(ast.Module(restore_asserts(body), []))
    for node in ast.walk(module):
        if isinstance(node, Common):
            node.__class__ = ast.Name
    return ast.unparse(module)


@pytest.mark.parametrize("has_columns", [True, False])
@pytest.mark.parametrize(
    ("form", "source", "given"),
    [
        ("if a and not b: {}", "assert not a or b", "assert not a or b"),
        ("if a:\n if not b: {}", "if a:\n    assert b", "if a:\n    assert b"),
        ("if a and not b: {}", "if a:\n    assert b", "if a:\n    assert b"),
        ("if a and b and not c: {}", "if a:\n    assert not b or c", "if a:\n    assert not b or c"),
        ("if a and not b and not c: {}", "if a:\n    assert b or c", "if a:\n    assert b or c"),
        ("if a and b: {}", "if a:\n    assert not b", "if a:\n    assert not b"),
        ("if a and b: {}", "assert not (a and b)", "assert not (a and b)"),
        ("if not a and not b: {}", "assert a or b", "assert a or b"),
        ("if a and (b and not c): {}", "if a and b:\n    assert c", "if a and b:\n    assert c"),
    ],
)
def test_where_the_assert_begins(form: str, source: str, given: str, has_columns: bool) -> None:
    assert restored(form.format(RAISE), source, has_columns=has_columns) == given


def test_conditions_on_one_line() -> None:
    """Columns tell what stands between the tests."""
    source = "if a: assert b"
    assert restored(f"if a and not b: {RAISE}", source) == "if a:\n    assert b"
    assert restored(f"if a and not b: {RAISE}", source, has_columns=False) == "assert not a or b"


def test_a_part_whose_line_is_not_known() -> None:
    form = f"if a and not b: {RAISE}"
    assert restored(form, "if a:\n    assert c") == "if a:\n    assert b"
    assert restored(form, "if c:\n    assert b") == "if a:\n    assert b"


@pytest.mark.parametrize(
    "form",
    [
        "if not a: raise AssertionError(m, n)",
        "if not a: raise AssertionError(m, k=n)",
        "if not a: raise AssertionError(k=n)",
        "if not a: raise ValueError",
        "if not a: raise",
        "if not a: raise AssertionError from m",
    ],
)
def test_what_raises_otherwise_stays(form: str) -> None:
    assert restored(form, "assert a") == ast.unparse(ast.parse(form))


def test_an_assert_with_a_message() -> None:
    assert restored("if not a: raise AssertionError(m)", "assert a") == "assert a, m"
