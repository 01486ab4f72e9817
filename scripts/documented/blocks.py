"""The code blocks of a page of Markdown, and what is to be done with each.

A block is, by the language behind its fence,

    python      run in the page's own Python, all of them in one namespace; what it prints is the `text` block below it
    console     `$ command` lines, run in the page's own folder, each with what it prints
    json        parsed
    {directive} what the site makes of it: no code

A comment right above the fence says more:

    <!-- file: NAME -->         the block is this file, for the commands below it
    <!-- numbers vary -->       other numbers are as good as those shown: times, sizes
    <!-- tests/path.py ... -->  this test runs the block; what else the comment says is for the reader
    <!-- figure -->             the block is a drawing, no code

In an output, a line `...` stands for any lines, and `...` in a line for any text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum


class Role(Enum):
    """What is to be done with a block."""

    PYTHON = "python"
    OUTPUT = "output"
    CONSOLE = "console"
    FILE = "file"
    PARSED = "parsed"
    ELSEWHERE = "elsewhere"
    FIGURE = "figure"


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a page.

    first_line: the line of its first line in the page, from 1 on.
    name: the file that it is, or the test that runs it.
    varies: whether other numbers are as good as those shown.
    """

    role: Role
    language: str
    text: str
    first_line: int
    name: str = ""
    varies: bool = False


class PageError(ValueError):
    """A block that nobody runs."""


_FENCE = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```[ ]*$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--\s*((?:(?!-->).)*?)\s*-->\s*$", re.DOTALL)
_TEST = re.compile(r"\btests/[\w/]+\.py\b")


def blocks(page: str, name: str = "") -> list[Block]:
    """Return the blocks of a page in order.

    Raises:
        PageError: a block says neither by its language nor by a comment who runs it.
    """
    blocks_of_page: list[Block] = []
    end = 0
    for match in _FENCE.finditer(page):
        line = page.count("\n", 0, match.start(2)) + 1
        between = page[end : match.start()]
        follows = bool(blocks_of_page) and blocks_of_page[-1].role is Role.PYTHON and not between.strip()
        blocks_of_page.append(_block(match[1], match[2], line, _comment(between), follows=follows, page=name))
        end = match.end()
    return blocks_of_page


def _comment(between: str) -> str:
    match = _COMMENT.search(between)
    return match[1] if match is not None else ""


def _block(language: str, text: str, line: int, comment: str, *, follows: bool, page: str) -> Block:
    test = _TEST.search(comment)
    if test is not None:
        return Block(Role.ELSEWHERE, language, text, line, name=test[0])
    is_directive = language.startswith("{") and not language.startswith("{code")
    if comment == "figure" or is_directive:
        return Block(Role.FIGURE, language, text, line)
    if comment.startswith("file: "):
        return Block(Role.FILE, language, text, line, name=comment.removeprefix("file: "))
    roles = {"python": Role.PYTHON, "console": Role.CONSOLE, "json": Role.PARSED}
    role = roles.get(language, Role.OUTPUT if language == "text" and (follows or comment == "numbers vary") else None)
    if role is None:
        raise PageError(f"{page}:{line}: nobody runs this block of {language or 'no language'}")
    return Block(role, language, text, line, varies=comment == "numbers vary")


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a console block, and the output that is shown below it."""

    text: str
    shown: str


def commands(console: str) -> Iterator[Command]:
    """Yield the commands of a console block.

    Raises:
        PageError: it begins with something else.
    """
    if not console.startswith("$ "):
        raise PageError(f"a console block begins with a command, not with {console.splitlines()[0]!r}")
    for part in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        lines = part.splitlines(keepends=True)
        count = next(number for number, line in enumerate(lines, 1) if not line.rstrip("\n").endswith("\\"))
        yield Command("".join(lines[:count]), "".join(lines[count:]))
