"""Lay a text out on the lines of the original: blank lines, breaks inside brackets, several statements on a line."""

from __future__ import annotations

import tokenize

from depyf.bytecode.code import Code
from depyf.decompiler.layout.lines import origins
from depyf.decompiler.layout.statements import Statement, blocks_on_one_line, statements

TIMES, MOST_LINES = 50, 10_000
"""The most source lines per statement, and in addition to that; larger line numbers are not credible."""


def laid_out(source: str, code: Code, candidate: Code) -> str:
    """Return a module's text with each statement on its own line of the original, as far as there is room.

    Args:
        source: the proven text of a module.
        code: the decompiled code.
        candidate: the text, compiled by an interpreter of the same version.

    Returns:
        the new text. The text stays unchanged if the running Python cannot tokenise it, or if the line numbers of the
            code cannot come from a source.
    """
    try:
        stmts = statements(source, origins(code, candidate))
    except (tokenize.TokenError, SyntaxError):
        return source
    if max((statement.last for statement in stmts), default=0) > MOST_LINES + TIMES * len(stmts):
        return source
    _fill(stmts)
    return _Page(set(blocks_on_one_line(stmts))).lay(stmts)


def _fill(stmts: list[Statement]) -> None:
    """Place `else:`, `try:` and `finally:` without a known line on the line before the next statement.

    If that line is taken, they go on the line of the next statement.
    """
    for number in range(len(stmts) - 2, -1, -1):
        statement, below = stmts[number], stmts[number + 1]
        if not statement.line and statement.is_head and below.line > 1:
            is_taken = number > 0 and stmts[number - 1].last >= below.line - 1
            statement.line = statement.last = below.line - (not is_taken)


class _Page:
    """The laid-out text so far: `line` is the line of its end."""

    def __init__(self, one_liners: set[int]) -> None:
        self.one_liners = one_liners
        self.parts: list[str] = []
        self.line = 1

    def lay(self, stmts: list[Statement]) -> str:
        """Return the text of all statements."""
        head = -1
        for number, statement in enumerate(stmts):
            before = stmts[number - 1] if number else None
            if head >= 0 and statement.level <= stmts[head].level:
                head = -1
            if before is None:
                self._down(statement.line)
            elif head >= 0:
                self._add(" " if number == head + 1 else "; ")
            elif _beside(before, statement) and self.line == statement.line:
                self._add("; ")
            else:
                self._add("\n")
                self._down(statement.line)
            if not self.parts or self.parts[-1].endswith("\n"):
                self._add(statement.indent)
            self._write(statement)
            if number in self.one_liners:
                head = number
        return "".join(self.parts) + "\n" if stmts else ""

    def _write(self, statement: Statement) -> None:
        for number, piece in enumerate(statement.pieces):
            if number and piece.line > self.line and piece.may_break:
                gap = piece.line - self.line
                self.parts.append("\n" * gap if piece.depth else " \\\n" * gap)
                self.line += gap
                self._add(" " * max(piece.column, 0))
            elif number:
                self._add(piece.before)
            self._add(piece.text)

    def _down(self, line: int) -> None:
        """Move down to a line, if it is further down."""
        self._add("\n" * max(line - self.line, 0))

    def _add(self, text: str) -> None:
        if text:
            self.parts.append(text)
            self.line += text.count("\n")


def _beside(before: Statement, statement: Statement) -> bool:
    """Return whether a statement began on the line on which the previous one ended."""
    return (
        before.is_simple
        and statement.is_simple
        and statement.level == before.level
        and 0 < statement.line == before.last
    )
