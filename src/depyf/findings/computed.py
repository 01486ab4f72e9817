"""Values that a function computed before a graph break. They differ because of another cause.

    def f(x, weight):                     requires_grad of `weight` differs: a cause
        y = x + weight
        torch._dynamo.graph_break()
        return y * 2                      requires_grad of `y` differs, too, in the same call

A resume function checks `y` as it checks an argument. The user did not choose its value, so the finding is about
`weight`.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Collection, Mapping, Sequence

from depyf.findings.causes import Cause
from depyf.model.guard_failure import Check, GuardFailure
from depyf.model.run import Function
from depyf.model.spelling import root_name
from depyf.model.syntax import nodes_below, parsed

_LOCAL = "L["
_OF_KIND = frozenset((Check.DTYPE, Check.DEVICE, Check.REQUIRES_GRAD, Check.DISPATCH_KEYS, Check.TYPE))
"""Checks that never depend on the data of a tensor, so a change of another argument decides them."""


class Origins:
    """The causes from which the differences of computed values follow.

    Args:
        found: the causes of a run.
        functions: the functions of the run, by key.
    """

    def __init__(self, all_causes: Sequence[Cause], functions: Mapping[str, Function]) -> None:
        self._checks = [cause.failures[0].check for cause in all_causes]
        self._roots = [cause.function.root for cause in all_causes]
        self._computed = frozenset(
            index
            for index, cause in enumerate(all_causes)
            if is_computed(functions[cause.function.root], cause.function, cause.failures[0])
        )
        self._arguments = frozenset(range(len(all_causes))) - self._computed
        self._elsewhere: dict[int, frozenset[int]] = {}

    def of(self, causes: Collection[int], in_call: Collection[int]) -> frozenset[int]:
        """Return causes, with the origin in place of each computed value.

        Args:
            causes: some causes of a call, by position.
            in_call: all causes of the recompiles of that call.
        """
        kept = frozenset(causes) - self._computed
        return kept.union(*(self._origin(index, in_call) for index in causes if index in self._computed))

    def _origin(self, index: int, in_call: Collection[int]) -> frozenset[int]:
        others = frozenset(in_call) - self._computed
        if others:
            return self._alike(index, others) or others
        # The function already had an entry for such a call, but its resume function had none.
        if index not in self._elsewhere:
            alike = self._alike(index, self._arguments) if self._checks[index] in _OF_KIND else frozenset()
            self._elsewhere[index] = alike if len(alike) == 1 else frozenset((index,))
        return self._elsewhere[index]

    def _alike(self, index: int, others: Collection[int]) -> frozenset[int]:
        """Return the causes of the same function that are about the same respect of a value."""
        root, check = self._roots[index], self._checks[index]
        return frozenset(other for other in others if self._roots[other] == root and self._checks[other] is check)


def is_computed(root: Function, function: Function, failure: GuardFailure) -> bool:
    """Return whether a guard of a resume function checks a variable that its function assigned before the break.

    Args:
        root: the function that broke.
        function: the function with the guard.
        failure: the guard failure.
    """
    if not function.is_resume or not failure.source.startswith(_LOCAL) or function.break_line is None:
        return False
    line = assigned_at(root, failure)
    return line is not None and line <= function.break_line


def assigned_at(root: Function, failure: GuardFailure) -> int | None:
    """Return the first line of a function that assigns the variable which a guard checks, or None."""
    line = _assignments(root.source).get(root_name(failure.source))
    return None if line is None else root.first_line + line - 1


@functools.lru_cache(maxsize=64)
def _assignments(source: str) -> Mapping[str, int]:
    """Return the first line of a function, from 1, that assigns each variable."""
    lines: dict[str, int] = {}
    for node in nodes_below(parsed(source)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            lines[node.id] = min(node.lineno, lines.get(node.id, node.lineno))
    return lines
