"""Statements that the compiler decides, and that keep only their line, for code with lines only.

Before: 2: a()                  After:  2: a()
        4: b()                          3: if __debug__:
                                        4:     b()

Before: 6: while c:             After:  5: while True:
        7:     d()                      6:     if not c: break
                                        7:     d()

`pass` keeps its line, too: a line after an empty block belongs to that.
"""

from __future__ import annotations

import ast

from depyf.decompiler.passes.source_form.line_evidence import Lines
from depyf.decompiler.passes.walk import inner
from depyf.decompiler.steps import step
from depyf.decompiler.structure.polarity import negated

ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
Block = tuple[list[ast.stmt], int]
"""Statements, and the last line before them, 0 if unknown."""


def restore_idle_lines(body: list[ast.stmt], lines: Lines, first: int) -> None:
    """Write the statements that keep only their line, in place; `first` is the line of the function's head."""
    work: list[Block] = [(body, first)]
    for block, line in work:  # The list grows during the iteration.
        for place, stmt in enumerate(block):
            before = line if not place else _end(block[place - 1], lines)
            if isinstance(stmt, ast.While) and not isinstance(stmt.test, ast.Constant):
                _part_loop(stmt, before, lines)
            elif not isinstance(stmt, (ast.While, ast.Try, ast.Pass, *ENDS)) and _has_idle_line(stmt, before, lines):
                step("line {}: write `if __debug__`", lines.first(stmt) - 1)
                block[place] = ast.If(test=ast.Name(id="__debug__"), body=[stmt], orelse=[], lineno=0)
            for below, _, name in inner(stmt):
                is_body = name == "body" and isinstance(stmt, (ast.If, ast.For, ast.AsyncFor))
                work.append((below, lines.head(stmt) if is_body else 0))


def _end(stmt: ast.stmt, lines: Lines) -> int:
    """Return the last line of a statement, 0 if unknown: a `pass` at its end does not show its line."""
    work = [below for below, _, _ in inner(stmt)]
    for block in work:  # The list grows during the iteration.
        if isinstance(block[-1], (ast.Pass, *ENDS)):
            return 0
        work += [below for below, _, _ in inner(block[-1])]
    return lines.last([stmt])


def _has_idle_line(stmt: ast.stmt, before: int, lines: Lines) -> bool:
    """Return whether the only line between a statement and the one before it has no operation."""
    line = lines.first(stmt)
    return 0 < before < line - 1 and lines.between(before, line) == [line - 1] and line - 1 not in lines.used


def _part_loop(loop: ast.While, before: int, lines: Lines) -> None:
    """Move the test of a loop into its body, if the loop has a line above it."""
    between = lines.between(before, lines.first(loop)) if before else []
    if len(between) != 1 or between[0] in lines.busy or (loop.orelse and not isinstance(loop.orelse[-1], ENDS)):
        return
    step("line {}: the test of a loop is in its body", lines.first(loop))
    leaving = loop.orelse or [ast.Break()]
    loop.body.insert(0, ast.If(test=negated(loop.test), body=leaving, orelse=[], lineno=lines.first(loop)))
    loop.test, loop.orelse = ast.Constant(value=True), []


def restore_passes(body: list[ast.stmt]) -> None:
    """Write `pass` for the `return` that is all of an `elif` with another arm after it, at the end of a function."""
    work = [body]
    for block in work:  # The list grows during the iteration.
        last = block[-1] if block else None
        if isinstance(last, ast.If):
            work += [last.body, last.orelse]
            below = last.orelse[0] if len(last.orelse) == 1 else None
            if isinstance(below, ast.If) and below.orelse and _is_bare(below.body):
                step("line {}: an arm does nothing", below.lineno)
                below.body = [ast.Pass()]


def _is_bare(block: list[ast.stmt]) -> bool:
    """Return whether a block is a return of nothing."""
    return len(block) == 1 and isinstance(block[0], ast.Return) and block[0].value is None
