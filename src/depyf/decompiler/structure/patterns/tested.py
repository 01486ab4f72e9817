"""Which conditions are heads: cases of a `match`, and clauses, stand apart from each other and from all other tests."""

from __future__ import annotations

import ast

from depyf.decompiler.lift.nodes import Entry, ExcMatch, MatchTest
from depyf.decompiler.lift.references import referred

MAX_NESTED = 50
"""Levels of brackets in a condition: Python 3.7 reads 89 of them, the text around it needs some."""


class Conditions:
    """What is asked about conditions that grow test by test; none is looked into twice."""

    def __init__(self) -> None:
        self._headless: dict[int, ast.expr] = {}
        self._levels: dict[int, tuple[ast.expr, int]] = {}

    def first_subject(self, entry: Entry | None) -> ast.expr | None:
        """Return what the first head in a condition is about: the subject of a pattern, or the test of a clause, whole;
        None if it has none."""
        work = [] if entry is None else [entry.expr]
        while work:
            one = referred(work.pop())
            if isinstance(one, MatchTest):
                return referred(one.subject)
            if isinstance(one, ExcMatch):
                return one
            if id(one) in self._headless:
                continue
            if isinstance(one, ast.BoolOp):
                work += reversed(one.values)
            elif isinstance(one, ast.UnaryOp):
                work.append(one.operand)
            elif isinstance(one, ast.IfExp):
                work += [one.orelse, one.body, one.test]
        if entry is not None:
            whole = referred(entry.expr)
            self._headless[id(whole)] = whole  # The expression is kept, so that no other one gets its number.
        return None

    def is_deep(self, entry: Entry | None) -> bool:
        """Return whether a condition nests so deep that no text can hold more around it."""
        if entry is None:
            return False
        one = referred(entry.expr)
        if not isinstance(one, ast.BoolOp):
            return False
        levels = 1
        for value in map(referred, one.values):
            while isinstance(value, ast.UnaryOp):
                value = referred(value.operand)
            if isinstance(value, ast.BoolOp):
                known = self._levels.get(id(value), (value, 1))[1]
                levels = max(levels, known + (type(value.op) is not type(one.op)))
        self._levels[id(one)] = one, levels
        return levels > MAX_NESTED
