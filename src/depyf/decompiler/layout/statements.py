"""A text as logical lines of tokens, each with its place in the original."""

from __future__ import annotations

import io
import token
import tokenize
from collections.abc import Iterator
from dataclasses import field

from depyf.bytecode.records import dataclass
from depyf.decompiler.layout.lines import WHOLE, Origins

OPENING, CLOSING = "([{", ")]}"
COMPOUND = frozenset("if elif else for while try except finally with def class match case async @".split())
"""Words that begin a head or a decorator. No other statement follows on the same line."""
F_STRINGS = [getattr(token, f"{kind}STRING_{end}", -1) for kind in "FT" for end in ("START", "END")]
NO_TEXT = frozenset({token.NEWLINE, token.INDENT, token.DEDENT, token.ENDMARKER, tokenize.NL})


@dataclass(slots=True)
class Piece:
    """A token: the text before it, its own text, and its place in the original (0: unknown).

    depth: the brackets around it. may_break: whether a line may begin with it.
    """

    before: str
    text: str
    line: int
    column: int
    depth: int
    may_break: bool


@dataclass(slots=True)
class Statement:
    """A simple statement, or the head of a compound one: `level` is its indentation level, `indent` the indentation.

    line: where it begins in the original, 0 if unknown. last: the last line of the original that it shows.
    """

    level: int
    indent: str
    pieces: list[Piece] = field(default_factory=list)
    line: int = 0
    last: int = 0

    @property
    def is_head(self) -> bool:
        """Whether a block or a decorated definition follows it."""
        return self.pieces[-1].text == ":" or self.pieces[0].text == "@"

    @property
    def is_simple(self) -> bool:
        """Whether another statement may follow on its line."""
        return not self.is_head and self.pieces[0].text not in COMPOUND and not self.is_apart

    @property
    def is_apart(self) -> bool:
        """Whether it is a comment, or a string such as a docstring."""
        return len(self.pieces) == 1 and self.pieces[0].text.endswith(('"', "'")) or self.pieces[0].text[0] == "#"


def statements(source: str, origins: Origins) -> list[Statement]:
    """Return a text's statements, each with its place in the original.

    Raises tokenize.TokenError or SyntaxError if the running Python cannot tokenise the text.
    """
    lines = source.splitlines(keepends=True)
    stmts: list[Statement] = []
    level = depth = in_string = 0
    end = (1, 0)
    current: Statement | None = None
    for generate_token in tokenize.generate_tokens(io.StringIO(source).readline):
        level += (generate_token.type == token.INDENT) - (generate_token.type == token.DEDENT)
        if generate_token.type in NO_TEXT:
            if generate_token.type == token.NEWLINE or (generate_token.type == tokenize.NL and not depth):
                current = None
            end = generate_token.end
            continue
        if current is None:
            current = Statement(level, lines[generate_token.start[0] - 1][: generate_token.start[1]])
            stmts.append(current)
            end = generate_token.start
        in_string -= generate_token.type in F_STRINGS[1::2]
        depth -= generate_token.type == token.OP and generate_token.string in CLOSING
        line, column = _origin(generate_token, lines, origins, is_first=not current.pieces)
        may_break = not in_string and (not current.pieces or current.pieces[-1].text != ".")
        text = _between(lines, end, generate_token.start)
        current.pieces.append(Piece(text, generate_token.string, line, column, depth, may_break))
        depth += generate_token.type == token.OP and generate_token.string in OPENING
        in_string += generate_token.type in F_STRINGS[::2]
        end = generate_token.end
    for statement in stmts:
        known = [piece.line for piece in statement.pieces if piece.line]
        statement.line, statement.last = (known[0], max(known)) if known else (0, 0)
    return stmts


def _origin(text_token: tokenize.TokenInfo, lines: list[str], origins: Origins, *, is_first: bool) -> tuple[int, int]:
    """Return the place of a token in the original; (0, 0) if unknown."""
    row, column = text_token.start
    place = origins.get((row, len(lines[row - 1][:column].encode("utf-8", "surrogatepass"))))
    if place is None and is_first:
        place = origins.get((row, WHOLE))
    return (0, 0) if place is None else place


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    """Return the text between two places."""
    if start[0] == end[0]:
        return lines[start[0] - 1][start[1] : end[1]]
    inside = [lines[start[0] - 1][start[1] :], *lines[start[0] : end[0] - 1], lines[end[0] - 1][: end[1]]]
    return "".join(inside)


def blocks_on_one_line(stmts: list[Statement]) -> Iterator[int]:
    """Yield the numbers of heads whose whole block is on their own line in the original."""
    for number, head in enumerate(stmts):
        if head.pieces[-1].text != ":" or not head.line:
            continue
        below = number + 1
        while below < len(stmts) and stmts[below].level > head.level:
            statement = stmts[below]
            if not (
                statement.is_simple
                and statement.level == head.level + 1
                and statement.line == statement.last == head.last
            ):
                break
            below += 1
        if below > number + 1 and (below == len(stmts) or stmts[below].level <= head.level):
            yield number
