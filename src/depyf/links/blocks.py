"""The parts of the user's files that are shown: the functions around the linked lines."""

from __future__ import annotations

import ast
import bisect
import functools
from collections.abc import Iterable
from typing import TypeAlias

from depyf.bytecode.records import dataclass

AROUND = 2
"""Lines shown before and after a line outside any function."""


@dataclass(frozen=True, slots=True)
class Block:
    """Lines `first` to `last` of a file; `name` is the function's qualified name, or "" outside any function."""

    file: str
    first: int
    last: int
    name: str
    text: str


def blocks(file: str, text: str, lines: Iterable[int], first: int | None = None) -> list[Block]:
    """Return the functions of a file around `lines`, starting with the one that begins at line `first`.

    Args:
        file: the path of the file.
        text: its content.
        lines: the line numbers, from 1.
        first: the first line of the function that comes first, if there is one.
    """
    rows = text.splitlines()
    functions = _functions(text)
    wanted = {first, *lines} - {None} if first is not None else set(lines)
    spans: dict[tuple[int, int], str] = {}
    for line in sorted(number for number in wanted if number is not None and 0 < number <= len(rows)):
        begin, end, name = _around(functions, line, len(rows))
        spans.setdefault((begin, end), name)
    kept = [
        Block(file, begin, end, name, "\n".join(rows[begin - 1 : end]))
        for (begin, end), name in _without_contained(spans)
    ]
    return sorted(kept, key=lambda block: (not (first is not None and block.first <= first <= block.last), block.first))


_Defined: TypeAlias = tuple[int, int, str, str]
"""A function: its first and last line, its qualified name, and the class whose method it is, or ""."""


@functools.lru_cache(maxsize=256)
def _functions(text: str) -> tuple[_Defined, ...]:
    """Return the functions of a text by first line; none if it is not Python.

    Each function of a file has a page, so the result is cached.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return ()
    functions = []
    pending: list[tuple[str, str, ast.stmt]] = [("", "", statement) for statement in tree.body]
    while pending:
        prefix, owner, node = pending.pop()
        inner, owned = prefix, owner
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            inner, owned = f"{prefix}{node.name}.", node.name if isinstance(node, ast.ClassDef) else ""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            begin = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            functions.append((begin, node.end_lineno or node.lineno, f"{prefix}{node.name}", owner))
        pending += [(inner, owned, child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]
        for name in ("handlers", "cases"):
            pending += [(inner, owned, child) for part in getattr(node, name, ()) for child in part.body]
    return tuple(sorted(functions))


def class_of(text: str, first: int) -> str:
    """Return the class that contains the method beginning at line `first`, or "" for another function.

    >>> class_of("class A:\\n    def f(self):\\n        def g(): pass\\n", 2)
    'A'
    """
    return next((owner for begin, _, _, owner in _functions(text) if begin == first), "")


def _around(functions: tuple[_Defined, ...], line: int, count: int) -> tuple[int, int, str]:
    """Return the innermost function around a line, else the line with a few around it."""
    index = bisect.bisect_right(functions, (line, count + 1, "", "")) - 1
    while index >= 0:
        begin, end, name, _ = functions[index]
        if begin <= line <= end:
            return begin, end, name
        index -= 1
    return max(1, line - AROUND), min(count, line + AROUND), ""


def _without_contained(spans: dict[tuple[int, int], str]) -> list[tuple[tuple[int, int], str]]:
    """Return the spans that are not contained in another one."""
    kept: list[tuple[tuple[int, int], str]] = []
    for span, name in sorted(spans.items(), key=lambda item: (item[0][0], -item[0][1])):
        if kept and span[1] <= kept[-1][0][1]:
            continue
        kept.append((span, name))
    return kept
