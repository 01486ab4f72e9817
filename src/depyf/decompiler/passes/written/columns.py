"""The column in which a statement begins in the source."""

from __future__ import annotations

import ast

from depyf.bytecode.listing import Listing
from depyf.bytecode.places import Place
from depyf.decompiler.lift.extent import forget_place, place_of
from depyf.decompiler.lift.nodes import Function
from depyf.decompiler.passes.walk import children, inner, nodes, of_kinds, statements

UNIT = 4
"""The default indentation of a nested block, in columns."""
MOST = 0.8
"""The fraction of lines that must be indented by whole units."""
COMPOUND = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try)
MADE = frozenset({Function})
Start = tuple[int, int]
"""Line and column."""
FIRST: Start = (0, 0)


class Columns:
    """The columns of the statements of a body.

    starts: where simple statements begin, and the heads of compound ones after their keywords.
    unit: their indentation.
    idle: where code without an operation, or only with jumps, begins.
    """

    def __init__(self, body: list[ast.stmt], listing: Listing | None = None) -> None:
        self.starts: dict[ast.stmt, Start] = {}
        self.idle: set[Start] = set() if listing is None else {place[:2] for place in idle_places(listing)}
        work: list[tuple[list[ast.stmt], Start]] = [(body, FIRST)]
        while work:
            block, bound = work.pop()
            for stmt in block:
                inside = inner(stmt)
                first = _first(_own_nodes(stmt) if inside else nodes([stmt]), stmt, bound)
                if inside:
                    found = _head(stmt) if isinstance(stmt, COMPOUND) else _simple(stmt, start_of(stmt))
                else:
                    found = _simple(stmt, first)
                if found is not None:
                    self.starts[stmt] = found
                    bound = max(bound, found)
                work += [(below, bound) for below, _, _ in inside]
        self.unit = self._unit(statements(body))

    def _unit(self, every: list[ast.stmt]) -> int:
        """Return the number of columns of which most indentations are multiples."""
        heads = {found[0] for stmt in every if isinstance(stmt, COMPOUND) and (found := self.starts.get(stmt))}
        lines: dict[int, int] = {}
        for stmt, (line, column) in self.starts.items():
            if not isinstance(stmt, COMPOUND) and line not in heads:
                lines[line] = min(column, lines.get(line, column))
        begins = list(lines.values())
        fits = (unit for unit in (UNIT, 3, 2) if sum(column % unit == 0 for column in begins) >= MOST * len(begins))
        return next(fits, 1)

    def column(self, stmt: ast.stmt) -> int | None:
        """Return the column of a statement, or None if unknown."""
        start = self.starts.get(stmt)
        outwards = 0
        while isinstance(stmt, COMPOUND):
            first = stmt.body[0]
            below = self.starts.get(first)
            if start is not None and below is not None and below[0] == start[0]:
                return start[1] - len(_keyword(stmt)) - outwards * self.unit  # All on one line.
            if below is None and not isinstance(first, COMPOUND):
                return None if start is None else start[1] - len(_keyword(stmt)) - outwards * self.unit
            outwards += 1
            stmt, start = first, below
        return None if start is None else start[1] - outwards * self.unit

    def of_block(self, block: list[ast.stmt]) -> int | None:
        """Return the column of the first statement with a known one in a block."""
        return next((found for stmt in block if (found := self.column(stmt)) is not None), None)

    def below(self, stmt: ast.stmt) -> int | None:
        """Return the column of a statement's block, or None if it is on the statement's line."""
        body: list[ast.stmt] = stmt.body  # type: ignore[attr-defined]
        head, first = self.starts.get(stmt), self.starts.get(body[0])
        if head is not None and first is not None and first[0] == head[0]:
            return None
        return self.of_block(body)

    def of_loop(self, stmt: ast.stmt) -> int | None:
        """Return the column of the body of a loop, inferred from its head."""
        start = self.starts.get(stmt)
        if start is None or not isinstance(stmt, (ast.For, ast.AsyncFor, ast.While)):
            return None
        return start[1] - len(_keyword(stmt)) + self.unit

    def lines(self, node: ast.stmt | ast.ExceptHandler) -> list[int]:
        """Return the line on which a statement or clause begins, or nothing if unknown."""
        if isinstance(node, ast.ExceptHandler):
            start = None if node.type is None else start_of(node.type)
        else:
            start = self.starts.get(node)
        line: int = getattr(node, "lineno", 0) if start is None else start[0]
        return [line] if line else []

    def gap(self, stmt: ast.stmt) -> int | None:
        """Return how many columns the keyword of a statement takes, including spaces and parentheses."""
        column, start = self.column(stmt), self.starts.get(stmt)
        return None if column is None or start is None else start[1] - column


def idle_places(listing: Listing) -> set[Place]:
    """Return the one-line locations of code without an operation, or only with jumps."""
    places = listing.places
    kept = {places[one.offset >> 1] for one in listing.instructions if places and one.op != "JUMP"}
    return {place for place in set(places) - kept if place is not None and place.line == place.end_line}


def _first(near: list[ast.AST], stmt: ast.stmt, bound: Start) -> Start | None:
    """Return the location of a statement's first node, or None if unknown.

    Removes the locations of earlier statements: the exit from a `with` has the location of the `with`.
    """
    first: Start | None = None
    for node in near:
        place = place_of(node)
        if place is None:
            continue
        start = place[:2]
        if start <= bound and bound > FIRST and (start < bound or node is not stmt):
            forget_place(node)
        elif first is None or start < first:
            first = start
    return first


def _own_nodes(stmt: ast.stmt) -> list[ast.AST]:
    """Return a statement with the expressions of its head."""
    return [stmt, *nodes(each for each in children(stmt) if isinstance(each, (ast.expr, ast.withitem)))]


def _keyword(stmt: ast.stmt) -> str:
    match stmt:
        case ast.If():
            return "if " + "not " * leading_nots(stmt.test)
        case ast.While():
            return "while " + "not " * leading_nots(stmt.test)
        case ast.With():
            return "with "
        case ast.AsyncWith():
            return "async with "
        case ast.For():
            return "for "
        case ast.AsyncFor():
            return "async for "
    return ""


def leading_nots(test: ast.expr) -> int:
    """Return how many `not` a test begins with."""
    count = 0
    while True:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test, count = test.operand, count + 1
        elif isinstance(test, ast.BoolOp):
            test = test.values[0]
        else:
            return count


def _head(stmt: ast.stmt) -> Start | None:
    """Return where the first expression of a compound statement begins."""
    match stmt:
        case ast.If(test) | ast.While(test):
            return start_of(test)
        case ast.For(target) | ast.AsyncFor(target):
            return start_of(target)
        case ast.With(items) | ast.AsyncWith(items):
            return start_of(items[0].context_expr)
    return None


def _simple(stmt: ast.stmt, inside: Start | None) -> Start | None:
    """Return where a simple statement begins; a definition begins at its store, independent of decorators.

    inside: the location of its first node.
    """
    if isinstance(stmt, ast.Assert):
        head = start_of(stmt.test)
        return None if head is None else (head[0], head[1] - len("assert " + "not " * leading_nots(stmt.test)))
    own = place_of(stmt)
    if isinstance(stmt, ast.Delete):
        return None if inside is None else (inside[0], inside[1] - len("del "))
    if isinstance(stmt, ast.Return):
        return _return(stmt)
    if own is not None and isinstance(stmt, ast.Assign) and of_kinds([stmt.value], MADE):
        return own[:2]
    if isinstance(stmt, ast.Assign):
        return _target(stmt.targets[0]) or _stored(stmt)
    if own is None or inside is None:
        return inside if own is None else own[:2]
    return min(own[:2], inside)


def _stored(stmt: ast.Assign) -> Start | None:
    """Return where a stored item or attribute begins, because its operation has the location of the whole target."""
    own = place_of(stmt)
    is_whole = len(stmt.targets) == 1 and isinstance(stmt.targets[0], (ast.Attribute, ast.Subscript))
    return own[:2] if is_whole and own is not None and own.line == own.end_line else None


def _return(stmt: ast.Return) -> Start | None:
    """Return where a `return` begins: one in a `finally` has the location of the last statement there."""
    own, head = place_of(stmt), None if stmt.value is None else start_of(stmt.value)
    if head is not None and (own is None or own[:2] >= head):
        return head[0], head[1] - len("return ")
    return None if own is None else own[:2]


def _target(target: ast.expr) -> Start | None:
    """Return where a target begins, or None if its first name has no location."""
    stars = 0
    while True:
        match target:
            case ast.Tuple(elts) | ast.List(elts) if elts:
                whole, target = place_of(target), elts[0]
                if whole is not None and not stars:
                    return whole[:2]
            case ast.Attribute(value) | ast.Subscript(value):
                found = start_of(value) or start_of(target)
                return None if found is None else (found[0], found[1] - stars)
            case ast.Starred(value):
                target, stars = value, stars + 1
            case _:
                place = place_of(target)
                return None if place is None else (place.line, place.column - stars)


def start_of(node: ast.AST) -> Start | None:
    """Return the location of the first node inside a node."""
    found = [place for each in nodes([node]) if (place := place_of(each)) is not None]
    return min(found)[:2] if found else None
