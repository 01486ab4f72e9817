"""Code behind a `match` that only its last cases reach.

Before: if <case 1>: goto 7                     After:  if <case 1>: goto 7
        else: if <case 2>: goto 9                       else: if <case 2>: goto 9
              else: c()                                       else: c()
              9: d()                                    9: d()
"""

from __future__ import annotations

import ast

from depyf.decompiler.lift.nodes import MatchTest, Temp
from depyf.decompiler.lift.references import referred
from depyf.decompiler.steps import step
from depyf.decompiler.structure.tree import If, Item, Jump, Label, children


def hoist_behind_cases(items: list[Item]) -> None:
    """Move what follows a case inside the `else` of the case before it behind both, in place."""
    found: list[tuple[list[Item], If]] = []
    work = [items]
    while work:
        sequence = work.pop()
        for item in sequence:
            if isinstance(item, ast.stmt):
                continue
            if isinstance(item, If) and is_case(item.test):
                found.append((sequence, item))
            work += children(item)
    for sequence, outer in reversed(found):
        inner = _flat(outer.orelse)
        if len(inner) > 1 and isinstance(inner[0], If) and is_case(inner[0].test) and isinstance(inner[1], Label):
            step("{} items behind a case stand behind the cases around it", len(inner) - 1)
            outer.orelse = inner[:1]
            place = next(number for number, item in enumerate(sequence) if item is outer)
            sequence[place + 1 : place + 1] = inner[1:]


def is_case(test: ast.expr) -> bool:
    """Say whether a test looks like that of a case: of a pattern, or of a temporary for a value."""
    while isinstance(test, ast.BoolOp):
        test = test.values[0]
    if isinstance(test, MatchTest):
        return True
    return isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(referred(test.left), Temp)


def _flat(items: list[Item]) -> list[Item]:
    """Put the code of filled jumps at the start of a sequence in their place."""
    while items and isinstance(items[0], Jump) and items[0].body is not None:
        items = [*items[0].body, *items[1:]]
    return items
