"""Number the blocks, and select the arm for a number.

The numbers of a scope are contiguous, so that its loop runs while the state is in their range.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from depyf.bytecode.records import dataclass
from depyf.decompiler.lift.nodes import Temp
from depyf.decompiler.structure.dispatch.scopes import Role, Scope

LEAVES = 8
"""The most arms in an `elif` chain; more are bisected first."""


@dataclass(slots=True)
class Arm:
    """Statements for the states from `low` up to `high`, exclusive."""

    low: int
    high: int
    stmts: list[ast.stmt]


def number(root: Scope, blocks: set[int]) -> dict[int, int]:
    """Set the range of each scope; return the number of each of these blocks."""
    numbers: dict[int, int] = {}
    loops = [root]
    while loops:
        work: list[tuple[Scope, bool]] = [(loops.pop(), False)]
        while work:
            scope, is_done = work.pop()
            if is_done:
                scope.high = len(numbers)
                continue
            scope.low = len(numbers)
            for block in scope.blocks:
                if block in blocks:
                    numbers[block] = len(numbers)
            work.append((scope, True))
            work.extend((inner, False) for inner in reversed(scope.inner) if inner.role is Role.TRY)
            loops.extend(inner for inner in scope.inner if inner.role is Role.WITH)
            loops.extend([scope.code] if scope.code is not None else [])
    return numbers


class States:
    """The variable that holds the state, and statements about it."""

    def __init__(self, temp: int) -> None:
        self.temp = temp

    def set(self, value: int, left: Sequence[States] = ()) -> ast.stmt:
        """Return the statement that goes to a state; it moves the variables of the scopes in `left` out of range."""
        targets: list[ast.expr] = [Temp(temp=states.temp) for states in (*left, self)]
        return ast.Assign(targets=targets, value=ast.Constant(value=value), lineno=0)

    def test(self, op: ast.cmpop, value: int) -> ast.expr:
        """Return a comparison of the state."""
        return ast.Compare(left=Temp(temp=self.temp), ops=[op], comparators=[ast.Constant(value=value)])

    def within(self, low: int, high: int) -> ast.expr:
        """Return the test whether the state is in a range."""
        return ast.Compare(
            left=ast.Constant(value=low),
            ops=[ast.LtE(), ast.Lt()],
            comparators=[Temp(temp=self.temp), ast.Constant(value=high)],
        )

    def choose(self, arms: Sequence[Arm]) -> list[ast.stmt]:
        """Return the tests that select among ordered arms: bisection, then a chain."""
        done: dict[tuple[int, int], list[ast.stmt]] = {}
        work = [(0, len(arms))]
        while work:
            low, high = work[-1]
            if high - low <= LEAVES:
                done[work.pop()] = self._chain(arms[low:high])
                continue
            middle = (low + high) // 2
            halves = [(low, middle), (middle, high)]
            if not all(half in done for half in halves):
                work.extend(half for half in halves if half not in done)
                continue
            test = self.test(ast.Lt(), arms[middle].low)
            done[work.pop()] = [ast.If(test=test, body=done[halves[0]], orelse=done[halves[1]], lineno=0)]
        return done[0, len(arms)]

    def _chain(self, arms: Sequence[Arm]) -> list[ast.stmt]:
        rest: list[ast.stmt] = arms[-1].stmts if arms else [ast.Pass()]
        for arm in reversed(arms[:-1]):
            is_one = arm.high == arm.low + 1
            test = self.test(ast.Eq(), arm.low) if is_one else self.test(ast.Lt(), arm.high)
            rest = [ast.If(test=test, body=arm.stmts, orelse=rest, lineno=0)]
        return rest
