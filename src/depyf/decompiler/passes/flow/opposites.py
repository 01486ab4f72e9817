"""Write tests with as few `not` as possible.

Before: if m and not (not a == b or c): ...
After:  if m and a == b and not c: ...

A jump on `not (a or b)` is a jump on each operand, to the same places as those of `not a and not b`.
"""

from __future__ import annotations

import ast

from depyf.decompiler.passes.conditions import structures
from depyf.decompiler.passes.groups import TESTS
from depyf.decompiler.passes.registry import Stage, registers
from depyf.decompiler.passes.walk import statements
from depyf.decompiler.steps import step
from depyf.decompiler.structure.polarity import goes_inside, is_not, negated

TESTING = (ast.If, ast.While, ast.Assert)


@registers(
    "opposites",
    Stage.STATEMENTS,
    "move `not` to the operands",
    takes=("stmts", "negates=graph.negates"),
    optional=True,
    applies=structures,
    needs=TESTS,
    after={"tidy": "an exit may come first with the opposite test"},
    before={"as-written": "it starts from the statements that are written without evidence"},
)
def write_opposites(body: list[ast.stmt], *, negates: bool) -> None:
    """Write the tests of all statements in place.

    Args:
        negates: in a test, `not a in b` is another operation than `a in b`.
    """
    for stmt in statements(body):
        if not negates and isinstance(stmt, ast.If) and isinstance(stmt.test, ast.Compare) and _is_empty(stmt):
            step("line {}: negate a test with only an `else`", stmt.lineno)
            stmt.test, stmt.body, stmt.orelse = negated(stmt.test), stmt.orelse, []
        if isinstance(stmt, TESTING) and isinstance(stmt.test, (ast.BoolOp, ast.UnaryOp)):
            stmt.test = _written(stmt.test)


def _is_empty(stmt: ast.If) -> bool:
    """Return whether the arm of a true test is empty, and that of a false one is not."""
    return bool(stmt.orelse) and all(isinstance(nested, ast.Pass) for nested in stmt.body)


def _written(test: ast.expr) -> ast.expr:
    """Return a test with each `not` where it is most readable."""
    whole = ast.BoolOp(op=ast.And(), values=[test])
    work = [whole]
    while work:
        outer = work.pop()
        values: list[ast.expr] = []
        for value in outer.values:
            inner = _turned(value)
            if inner is not value and isinstance(inner, ast.BoolOp) and type(inner.op) is type(outer.op):
                values += inner.values
            else:
                values.append(inner)
        work += [operand for operand in values if isinstance(operand, ast.BoolOp)]
        outer.values = values
    return whole.values[0] if len(whole.values) == 1 else whole


def _turned(test: ast.expr) -> ast.expr:
    """Return a test with its `not` moved to the operands, if that is as short."""
    if is_not(test) and isinstance(test.operand, ast.BoolOp) and goes_inside(test.operand):
        step("`not` before `{}` moves to its operands", type(test.operand.op).__name__.lower())
        return negated(test.operand)
    return test
