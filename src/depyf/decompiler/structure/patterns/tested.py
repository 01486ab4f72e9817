"""Find conditions that are heads: cases of a `match` and clauses are separate from each other and from other tests."""

from __future__ import annotations

import ast

from depyf.decompiler.graph.tac import Block, Graph
from depyf.decompiler.lift.nodes import Entry, ExcMatch, MatchTest, Temp
from depyf.decompiler.lift.references import referred
from depyf.decompiler.structure.compounds import Compound

MAX_NESTED = 50
"""The deepest nesting of parentheses in a condition: Python 3.7 reads 89, and the text around it needs some."""


class Conditions:
    """Queries about conditions that grow test by test; each is examined only once."""

    def __init__(self, graph: Graph) -> None:
        ends = (block.insts[-1] for block in graph.live() if block.insts)
        self._cases = {inst.defs[0] for inst in ends if isinstance(inst.arg, Compound) and inst.arg.is_match}
        """The conditions that begin with a pattern."""
        self._headless: dict[int, ast.expr] = {}
        self._levels: dict[int, tuple[ast.expr, int]] = {}

    def join(self, cond: int, result: int) -> None:
        """Record that a condition is the first part of another one."""
        if cond in self._cases:
            self._cases.add(result)

    def begins_case(self, block: Block, cond: int, arm: Entry | None, arm_when: bool, is_natural: bool) -> bool:
        """Return whether an arm is the test of another case than the block's test `cond`.

        So is a pattern that is not an alternative, or is for another subject. A test after a failed pattern is the
        guard of a wildcard case.

        Args:
            block: the block with the first test.
            cond: the temporary that its test tests.
            arm: the value of the arm, or None if the arm computes nothing.
            arm_when: the value of the block's test on the path to the arm.
            is_natural: whether both tests lead to one place, without negating one of them.
        """
        subject = self.first_subject(arm)
        if subject is None:
            return not arm_when and cond in self._cases
        last = block.insts[-1] if block.insts else None
        is_same = last is not None and isinstance(subject, Temp) and last.uses[:1] == [subject.temp]
        return not (is_same and not arm_when and is_natural)

    def first_subject(self, entry: Entry | None) -> ast.expr | None:
        """Return the subject of the first head in a condition, or None.

        It is the subject of a pattern, or the whole test of a clause.
        """
        if entry is None:
            return None
        work = [entry.expr]
        while work:
            expression = referred(work.pop())
            if isinstance(expression, MatchTest):
                return referred(expression.subject)
            if isinstance(expression, ExcMatch):
                return expression
            if id(expression) in self._headless:
                continue
            if isinstance(expression, ast.BoolOp):
                work += reversed(expression.values)
            elif isinstance(expression, ast.UnaryOp):
                work.append(expression.operand)
            elif isinstance(expression, ast.IfExp):
                work += [expression.orelse, expression.body, expression.test]
        whole = referred(entry.expr)
        self._headless[id(whole)] = whole  # The expression is kept, so that no other one gets its number.
        return None

    def is_deep(self, entry: Entry | None) -> bool:
        """Return whether a condition is nested so deep that no text can contain a larger one."""
        if entry is None:
            return False
        expression = referred(entry.expr)
        if not isinstance(expression, ast.BoolOp):
            return False
        levels = 1
        for value in map(referred, expression.values):
            while isinstance(value, ast.UnaryOp):
                value = referred(value.operand)
            if isinstance(value, ast.BoolOp):
                known = self._levels.get(id(value), (value, 1))[1]
                levels = max(levels, known + (type(value.op) is not type(expression.op)))
        self._levels[id(expression)] = expression, levels
        return levels > MAX_NESTED
