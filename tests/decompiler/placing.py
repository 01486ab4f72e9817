"""Statements with places in the source: text in, and text out of a pass on what is written."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence

from depyf.bytecode.places import Place
from depyf.decompiler.lift.extent import note_place, note_row
from depyf.decompiler.passes.source_form.lines import Lines
from depyf.decompiler.structure.polarity import is_not

MARK = re.compile(r"#@ (\d+):(-?\d+)$")


def placed(text: str) -> list[ast.stmt]:
    """Return statements; `#@ 3:8` at the end of a line says in which line and column of the source it begins.

    Expressions have places, as those of instructions.
    """
    rows = text.splitlines()
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and (mark := MARK.search(rows[node.lineno - 1])):
            row = rows[node.lineno - 1]
            shift = int(mark[2]) - (len(row) - len(row.lstrip(" ")))
            line = int(mark[1])
            note_place(node, Place(line, node.col_offset + shift, line, (node.end_col_offset or 0) + shift))
    return tree.body


def as_compiled(form: str, source: str, *, has_columns: bool = True) -> list[ast.stmt]:
    """Return the statements that code of a source is at first: what they hold has the places of the source.

    Each expression and each `return` stands where the same text does in the source, one behind the other; `and`, `or`
    and `not` have no operation in a test, so no place. A compound statement is on the line of its head.
    has_columns: 3.11 and later; before, there are lines alone.
    """
    tree = ast.parse(form)
    places: dict[str, list[Place]] = {}
    for node in _in_order(ast.parse(source)):
        places.setdefault(ast.unparse(node), []).append(_place(node))
    for node in _in_order(tree):
        there = places.get(ast.unparse(node), [])
        node.lineno = 0
        if not there or isinstance(node, ast.BoolOp) or is_not(node):
            continue
        place = there.pop(0) if len(there) > 1 else there[0]
        if has_columns:
            note_place(node, place)
        else:
            note_row(node, place.line)
        node.lineno = place.line
    for stmt in ast.walk(tree):
        if isinstance(stmt, ast.stmt):
            stmt.lineno = min((node.lineno for node in _parts(stmt) if node.lineno), default=0)
    return tree.body


def written(restore: Callable[[list[ast.stmt]], object], form: str, source: str, *, has_columns: bool = True) -> str:
    """Return what a pass makes of the statements of a source."""
    body = as_compiled(form, source, has_columns=has_columns)
    given = restore(body)
    return ast.unparse(ast.fix_missing_locations(ast.Module(given if isinstance(given, list) else body, [])))


def plain(source: str) -> str:
    """Return a source as it is compared: on the lines that Python's own writer chooses."""
    return ast.unparse(ast.parse(source))


def _in_order(tree: ast.AST) -> list[ast.expr | ast.Return]:
    nodes = [node for node in ast.walk(tree) if isinstance(node, (ast.expr, ast.Return))]
    return sorted(nodes, key=lambda node: (_place(node)[:2], -_place(node).end_line, -_place(node).end_column))


def _parts(stmt: ast.stmt) -> Sequence[ast.expr | ast.Return]:
    if isinstance(stmt, ast.Return):
        return [stmt]
    held = [node for node in ast.iter_child_nodes(stmt) if not isinstance(node, ast.stmt)]
    return [node for statement in held for node in ast.walk(statement) if isinstance(node, ast.expr)]


def _place(node: ast.expr | ast.Return) -> Place:
    return Place(node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)


LINE = re.compile(r"  #(\d+)$", re.M)


class Marked(Lines):
    """The lines of statements that a text gives: `a()  #3` is on line 3, what has no mark is on none."""

    def __init__(self, text: str) -> None:
        """Take lines."""
        self.offsets, self.of = [], []
        self.known = sorted({int(line) for line in LINE.findall(text)})
        self.code, self.leaving, self.skips = [], [], {}
        self.has_all = self.has_skips = self.has_idle_end = self.has_loops = False


def marked(text: str) -> list[ast.stmt]:
    """Return statements with the lines of a text, as `Marked` takes it."""
    rows = text.splitlines()
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.expr)):
            mark = LINE.search(rows[node.lineno - 1])
            node.lineno = int(mark[1]) if mark else 0
            if isinstance(node, ast.expr):
                note_row(node, node.lineno)
    return tree.body


def source_of(body: list[ast.stmt]) -> str:
    """Return the text of statements, on the lines that Python's own writer chooses."""
    return ast.unparse(ast.fix_missing_locations(ast.Module(body, [])))
