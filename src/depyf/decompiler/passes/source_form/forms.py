"""The engine of source form: enumerate the forms of a place, predict their positions, compare, choose.

A rule lists the forms that one statement may have had in the source, all with the same code. Each form comes with
what the recorded positions must be if the source has it. `rewrite` writes the first form whose positions agree.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

from depyf.decompiler.passes.walk import compound, inner
from depyf.decompiler.steps import step
from depyf.decompiler.structure.polarity import is_not, negated

LOOPS = (ast.For, ast.AsyncFor, ast.While)
Loop = ast.For | ast.AsyncFor | ast.While
EXITS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
FAR = 1 << 40
"""A line below all others."""
IF, ELIF, NOT, AND = len("if "), len("elif "), len("not "), len("and ")


class Block(NamedTuple):
    """Statements with their context.

    end: the effect of reaching their end, None if unknown.
    owner, field: the statement around them, and its field that has them.
    around: the block of that statement.
    """

    stmts: list[ast.stmt]
    end: ast.stmt | None
    owner: ast.stmt | None = None
    field: str = "body"
    around: list[ast.stmt] | None = None

    @property
    def is_arm(self) -> bool:
        """Whether the statements are an `else` that may be an `elif`."""
        return isinstance(self.owner, ast.If) and self.field == "orelse" and len(self.stmts) == 1

    def end_at(self, place: int) -> ast.stmt | None:
        """Return the effect of reaching the end of one of the statements, None if unknown."""
        return self.end if place == len(self.stmts) - 1 else None


class Form(NamedTuple):
    """One way to write a statement.

    does: what happens to the present form, for the trace.
    is_shown: whether the recorded positions are those of this form.
    write: rewrites the statements.
    """

    does: str
    is_shown: bool
    write: Callable[[], None]


Rule = Callable[[Block, int], Iterator[Form]]
"""Lists the forms of one statement of a block."""


def walk(body: list[ast.stmt]) -> Iterator[Block]:
    """Yield all blocks, outer ones first. A block may be rewritten before the next one is asked for."""
    work = [Block(body, ast.Return(value=None))]
    for block in work:  # The list grows during the iteration.
        yield block
        for stmt in compound(block.stmts):
            after = block.end if stmt is block.stmts[-1] else None
            for below, _, field in inner(stmt):
                work.append(Block(below, end_of(stmt, field, after), stmt, field, block.stmts))


def end_of(stmt: ast.stmt, field: str, after: ast.stmt | None) -> ast.stmt | None:
    """Return the effect of reaching the end of a block in a statement, or None if unknown.

    Args:
        stmt: the statement around the block.
        field: the field of the statement that has the block: `body`, `orelse` and so on.
        after: the effect of reaching the end of the statement itself.
    """
    if isinstance(stmt, LOOPS) and field == "body":
        return ast.Continue()
    return after if isinstance(stmt, (ast.If, *LOOPS)) else None


def rewrite(block: Block, place: int, rules: tuple[Rule, ...]) -> bool:
    """Write the first form of a statement that its positions show; return whether there is one.

    Args:
        block: the statements with their context.
        place: the position of the statement in the block.
        rules: the rules that list its forms, in the order in which they are tried.
    """
    for rule in rules:
        for form in rule(block, place):
            if form.is_shown:
                step("line {}: {}", getattr(block.stmts[place], "lineno", 0), form.does)
                form.write()
                return True
    return False


def values_of(test: ast.expr, op: type[ast.boolop] = ast.And) -> list[ast.expr]:
    """Return the operands of a test, or the test alone if it has another operation."""
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, op) else [test]


def operands(test: ast.expr, op: type[ast.boolop]) -> list[ast.expr]:
    """Return the tests of which one (`or`) or all (`and`) must hold, also inside `not`."""
    parts: list[ast.expr] = []
    work = [test]
    while work:
        part = work.pop()
        within = part.operand if is_not(part) else part
        if is_not(within):
            work.append(within.operand)
        elif isinstance(within, ast.BoolOp) and (type(within.op) is op) is (within is part):
            work += [value if within is part else negated(value) for value in reversed(within.values)]
        else:
            parts.append(part)
    return parts


def joined(tests: list[ast.expr], op: type[ast.boolop] = ast.And) -> ast.expr:
    """Return one test for several of which one or all must hold."""
    return tests[0] if len(tests) == 1 else ast.BoolOp(op=op(), values=tests)


def leading_nots(test: ast.expr) -> int:
    """Return how many `not` a test begins with."""
    count = 0
    while True:
        if is_not(test):
            test, count = test.operand, count + 1
        elif isinstance(test, ast.BoolOp):
            test = test.values[0]
        else:
            return count
