"""Make a source smaller, one statement at a time."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from tests.quality.forms.changes import MARK as CHANGES
from tests.quality.forms.operations import MARK, MOST_ROWS

MOST_TRIES = 12
HEADS = ("pass\n", "def f(a, b): pass\n")
"""What has the names of most operations."""
LINES = 7
"""A source of so many lines is small enough."""


def smaller(source: str, still: Callable[[str], bool]) -> Iterator[str]:
    """Yield ever smaller sources for which `still` says yes."""
    source, mark, changes = source.partition(CHANGES)
    rows = changes.splitlines(keepends=True)
    for row in rows if len(rows) > 1 else ():
        fewer = "".join(other_row for other_row in rows if other_row is not row)
        if still(source + mark + fewer):
            changes = fewer
            yield source + mark + fewer
            break
    if mark:
        yield from (text + mark + changes for text in _smaller(source, lambda text: still(text + mark + changes)))
    else:
        yield from _smaller(source, still)


def _smaller(source: str, still: Callable[[str], bool]) -> Iterator[str]:
    for head in HEADS if MARK in source else ():
        short = head + MARK + source.partition(MARK)[2]
        if still(short):
            source = short
            yield source
            break
    tries, place = 0, 0
    most = MOST_ROWS if MARK in source else MOST_TRIES
    while tries < most and source.count("\n") > LINES:
        text = without(source, place)
        if text is None:
            return
        tries += 1
        if len(text) < len(source) and still(text):
            source = text
            yield source
        else:
            place += 1


def without(source: str, number: int) -> str | None:
    """Return a source without one of its statements, or with those inside of it in its place; None after the last."""
    head, mark, operations = source.partition(MARK)
    if mark:
        rows = operations.splitlines(keepends=True)
        return head + mark + "".join(rows[:number] + rows[number + 1 :]) if number < len(rows) else None
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            stmts = getattr(node, field, None)
            if not isinstance(stmts, list):
                continue
            if number < 2 * len(stmts):
                place, lifts = number // 2, number % 2
                inside = getattr(stmts[place], "body", []) if lifts and field in ("body", "orelse", "finalbody") else []
                stmts[place : place + 1] = inside or ([] if len(stmts) > 1 or field != "body" else [ast.Pass()])
                try:
                    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
                except (AttributeError, ValueError):
                    return source
            number -= 2 * len(stmts)
    return None
