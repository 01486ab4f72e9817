"""Move statements before the only `break` of a loop after it, if they compute the iterator of the next loop.

Before: while True:                             After:  while True:
            if c: a(); continue                             if c: a(); continue
            t = <iterator of x>                             break
            break                                       t = <iterator of x>
        ForStmt t: b()                                  ForStmt t: b()
"""

from __future__ import annotations

import ast

from depyf.decompiler.lift.nodes import Temp, literal_value
from depyf.decompiler.structure.labels import ForStmt

LOOPS = (ast.While, ast.For, ast.AsyncFor, ForStmt)
LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue)
SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Delete)


def take_tail(loop: ast.stmt, iterator: ast.expr) -> list[ast.stmt]:
    """Remove the statements at a loop's end that lead to the next loop's iterator, if that is allowed."""
    if not isinstance(loop, ast.While) or not _ends_by_break(loop):
        return []
    ways = _breaks(loop)
    if len(ways) != 1 or not ways[0][1]:
        return []
    stmts = ways[0][0]
    last = stmts[-2] if len(stmts) > 1 and isinstance(stmts[-1], ast.Break) else None
    target = last.targets[0] if isinstance(last, ast.Assign) else None
    if not isinstance(target, Temp) or not isinstance(iterator, Temp) or target.temp != iterator.temp:
        return []
    start = 0
    if stmts is loop.body:
        start = max((place + 1 for place, stmt in enumerate(stmts[:-1]) if not isinstance(stmt, SIMPLE)), default=0)
    tail = stmts[start:-1]
    del stmts[start:-1]
    return tail


def _ends_by_break(loop: ast.While) -> bool:
    """Return whether a loop ends only by `break`: its test never fails, or its `else` jumps away."""
    if not loop.orelse:
        return literal_value(loop.test) is True
    return isinstance(loop.orelse[-1], LEAVES)


def _breaks(loop: ast.While) -> list[tuple[list[ast.stmt], bool]]:
    """Return the sequences that end a loop, and whether they are nested only in `if`."""
    breaks: list[tuple[list[ast.stmt], bool]] = []
    work: list[tuple[list[ast.stmt], bool]] = [(loop.body, True)]
    while work:
        stmts, plain = work.pop()
        for stmt in stmts:
            if isinstance(stmt, ast.Break):
                breaks.append((stmts, plain))
            elif isinstance(stmt, ast.If):
                work += [(stmt.body, plain), (stmt.orelse, plain)]
            elif isinstance(stmt, LOOPS):
                work.append((stmt.orelse, False))
            else:
                work += [(getattr(stmt, name, []), False) for name in ("body", "handler", "orelse", "finalbody")]
                work += [(part.body, False) for name in ("handlers", "cases") for part in getattr(stmt, name, [])]
    return breaks
