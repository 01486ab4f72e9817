"""The user's own source: its lines, and the part of it that a resume function still has to run."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import os
import sysconfig
import tokenize
import types
from collections.abc import Callable

from depyf.bytecode.records import dataclass
from depyf.model.user_line import UserLine

MOST_LINES = 40
"""A longer function is shown only around the line at which it continues."""


def line_at(filename: str, line: int, function: str = "") -> UserLine:
    """Return a line of a source file; its text is empty if the file cannot be read.

    Args:
        filename: the path of the file.
        line: the line number, from 1.
        function: the name of the function around it, if known.
    """
    return UserLine(filename, line, linecache.getline(filename, line).strip(), function)


def file_text(filename: str) -> str:
    """Return the whole text of a source file, or "" if it cannot be read."""
    return "".join(linecache.getlines(filename))


def function_source(filename: str, first_line: int) -> str:
    """Return the text of the function that starts at `first_line`, with its indentation, or ""."""
    return function_in(linecache.getlines(filename), first_line)


def function_in(lines: list[str], first_line: int) -> str:
    """Return the text of the function that starts at `first_line` of a file's lines, or ""."""
    if not 0 < first_line <= len(lines):
        return ""
    try:
        return "".join(inspect.getblock(lines[first_line - 1 :]))
    except (SyntaxError, tokenize.TokenError):
        return lines[first_line - 1]


def code_source(code: types.CodeType) -> tuple[str, int]:
    """Return the text of the function of `code` and the number of its first line; "" if its file does not have it.

    A file that was edited after Python read it may have another text at that line, and no complete one.
    """
    try:
        lines, first = inspect.getsourcelines(code)
    except (OSError, TypeError, SyntaxError, tokenize.TokenError):
        return "", code.co_firstlineno
    return "".join(lines), first


NAMING: list[Callable[[str], str | None]] = []
"""Each returns a name for code that is in no file, such as a notebook's cell, by the file name of the code."""


def short_path(filename: str) -> str:
    """Return a path relative to the working directory or to the installed packages, else the full path.

    The innermost directory counts, because an environment may be inside the working directory.
    """
    for naming in NAMING:
        if (name := naming(filename)) is not None:
            return name
    return _short_path(filename, (*_working_directory(), *_package_directories()))


@functools.lru_cache(maxsize=256)
def _short_path(filename: str, directories: tuple[str, ...]) -> str:
    if not os.path.isabs(filename):
        return filename
    for directory in sorted(directories, key=len, reverse=True):
        if filename.startswith(directory.rstrip(os.sep) + os.sep):
            return os.path.relpath(filename, directory)
    return filename


def _working_directory() -> tuple[str, ...]:
    """Return the working directory, or () if it was removed."""
    try:
        return (os.getcwd(),)
    except FileNotFoundError:
        return ()


def is_installed(filename: str) -> bool:
    """Return whether a file belongs to an installed package or to Python's own library."""
    return filename.startswith("<frozen ") or any(
        filename.startswith(directory.rstrip(os.sep) + os.sep) for directory in _package_directories()
    )


OWN_PACKAGES: set[str] = set()
"""Installed packages whose files count as the user's own. `depyf fix --package` adds to them, in its own process."""


def _is_of_own_package(filename: str) -> bool:
    inside = next(
        (folder for folder in _package_directories() if filename.startswith(folder.rstrip(os.sep) + os.sep)), ""
    )
    name = os.path.relpath(filename, inside) if inside else filename
    return name.partition(os.sep)[0] in OWN_PACKAGES


def is_library_file(filename: str) -> bool:
    """Return whether a file is not the user's own, by its path or its short name in the index."""
    if OWN_PACKAGES and _is_of_own_package(filename):
        return False
    return is_installed(filename) or any(
        not os.path.isabs(filename) and os.path.isfile(os.path.join(directory, filename))
        for directory in _package_directories()
    )


def is_generated(filename: str) -> bool:
    """Return whether code with this file name was compiled from a text in memory that no notebook shows.

    >>> is_generated("<eval_with_key>.3"), is_generated("<string>"), is_generated("model.py")
    (True, True, False)
    """
    return filename.startswith("<") and short_path(filename) == filename


def is_foreign(filename: str) -> bool:
    """Return whether a file is not the user's own."""
    return is_library_file(filename) or is_generated(filename)


def is_of_torch(filename: str) -> bool:
    """Return whether a file is torch's own, by its path or its short name in the index."""
    return f"/{filename}".replace(os.sep, "/").rpartition("site-packages/")[2].lstrip("/").startswith("torch/")


@functools.cache
def _package_directories() -> tuple[str, ...]:
    """Return the directories of installed packages and of the standard library, longest first."""
    folders = {sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib", "platstdlib")}
    return tuple(sorted((path for path in folders if path), key=len, reverse=True))


@dataclass(frozen=True, slots=True)
class Resumption:
    """The place where a resume function continues in the user's function.

    break_line: the line of the graph break.
    line: the first line that still has to run.
    first_line: the line number of the first line of `source`.
    """

    source: str
    first_line: int
    break_line: int
    line: int


def taken_branch(resumption: Resumption) -> bool | None:
    """Return which way the `if` or `while` of the breaking line went, or None for another line.

    >>> taken_branch(Resumption("if x:\\n    a()\\nb()\\n", 1, 1, 3))
    False
    """
    for node in ast.walk(_parse(resumption.source)):
        if isinstance(node, (ast.If, ast.While)):
            start = node.test.lineno + resumption.first_line - 1
            end = (node.test.end_lineno or node.test.lineno) + resumption.first_line - 1
            if start <= resumption.break_line <= end:
                first = node.body[0].lineno + resumption.first_line - 1
                last = (node.body[-1].end_lineno or 0) + resumption.first_line - 1
                return first <= resumption.line <= last
    return None


def resumption_words(resumption: Resumption) -> str:
    """Return where a resume function continues, and which way the breaking line went."""
    branch = taken_branch(resumption)
    way = "" if branch is None else ", branch taken" if branch else ", branch not taken"
    return f"from line {resumption.line} on{way}"


def marked_source(resumption: Resumption) -> list[str]:
    """Return the user's function line by line. Marks show the lines that have already run and the lines that remain."""
    lines = resumption.source.rstrip("\n").split("\n")
    if not resumption.source or not resumption.first_line <= resumption.line < resumption.first_line + len(lines):
        return []
    in_loop = _loop_around(resumption)
    decided = taken_branch(resumption)
    numbered = [(resumption.first_line + index, text.rstrip()) for index, text in enumerate(lines)]
    shown = [
        _marked(number, text, _note(number, resumption, in_loop, decided), number >= resumption.line)
        for number, text in numbered
    ]
    return window(shown, resumption.line - resumption.first_line, MOST_LINES)


def _note(number: int, resumption: Resumption, loop: tuple[int, int] | None, decided: bool | None) -> str:
    if number <= resumption.first_line or number >= resumption.line:
        return ""
    if number == resumption.break_line and decided is not None:
        return f"(already decided: {'true' if decided else 'false'})"
    if loop is not None and loop[0] <= number <= loop[1]:
        return "(already run in this round)"
    if resumption.break_line < number and decided is False:
        return "(not taken)"
    return "(already run)"


def _marked(number: int, text: str, note: str, ahead: bool) -> str:
    pointer = ">" if ahead else " "
    line = f"#  {pointer} {number:4}   {text}"
    return f"{line:<52}  {note}" if note else line


def window(lines: list[str], start: int, most: int) -> list[str]:
    """Return at most `most` (at least 11) of some numbered lines: the first ones, and those around index `start`."""
    if len(lines) <= most:
        return lines
    before = max(1, start - 5)
    after = min(len(lines), start + most - 10)
    shown = lines[:1]
    if before > 1:
        shown.append(f"#           ... {before - 1} lines ...")
    shown += lines[before:after]
    if after < len(lines):
        shown.append(f"#           ... {len(lines) - after} lines ...")
    return shown


def _loop_around(resumption: Resumption) -> tuple[int, int] | None:
    """Return the first and last line of the outermost loop that contains both the break and the next line, or None."""
    for node in ast.walk(_parse(resumption.source)):
        if isinstance(node, (ast.For, ast.While, ast.AsyncFor)):
            first = node.lineno + resumption.first_line - 1
            last = (node.end_lineno or node.lineno) + resumption.first_line - 1
            if first <= resumption.break_line <= last and first <= resumption.line <= last:
                return first, last
    return None


@functools.lru_cache(maxsize=4)
def _parse(source: str) -> ast.Module:
    """Parse a function cut out of its file; return an empty module if it is incomplete (a lambda in a call)."""
    lines = source.split("\n")
    indent = len(lines[0]) - len(lines[0].lstrip())
    # A wrapper keeps the line numbers of a method right without touching multi-line strings.
    text = "if 1:\n" + source if indent else source
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return ast.Module(body=[], type_ignores=[])
    return ast.increment_lineno(tree, -1) if indent else tree
