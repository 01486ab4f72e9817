"""The column in which a statement begins in the source."""

from __future__ import annotations

import ast
from functools import cached_property

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Listing
from depyf.bytecode.places import Place
from depyf.decompiler.lift.extent import forget_place, place_of
from depyf.decompiler.lift.nodes import Function
from depyf.decompiler.passes.source_form.evidence import Unclaimed, Written, unclaimed, written_statements
from depyf.decompiler.passes.source_form.forms import NOT, leading_nots
from depyf.decompiler.passes.walk import INNER, NESTS, children, inner, nodes, of_kinds
from depyf.decompiler.structure.polarity import negated

UNIT = 4
"""The default indentation of a nested block, in columns."""
MOST = 0.8
"""The fraction of lines that must be indented by whole units."""
COMPOUND = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try)
KEYWORDS: dict[type[ast.stmt], int] = {
    kind: len(word)
    for kind, word in (
        (ast.If, "if "),
        (ast.While, "while "),
        (ast.With, "with "),
        (ast.AsyncWith, "async with "),
        (ast.For, "for "),
        (ast.AsyncFor, "async for "),
    )
}
MADE = frozenset({Function})
Start = tuple[int, int]
"""Line and column."""
FIRST: Start = (0, 0)
Span = tuple[Start, Start]
"""Where a node begins and ends."""


class Columns:
    """The columns of the statements of a body.

    left: the locations that no operation claims.
    idle: where locations without an operation, or only with jumps, begin.
    known: the columns of statements whose form has been restored.
    """

    def __init__(self, body: list[ast.stmt], listing: Listing | None = None) -> None:
        self.body = body
        self.listing = listing
        self.left = Unclaimed(set(), set(), set()) if listing is None else unclaimed(listing)
        self.idle: set[Start] = {place[:2] for place in self.left.idle}
        self.known: dict[ast.stmt, int] = {}
        self.makes_functions = listing is None or any(isinstance(const, Code) for const in listing.code.consts)

    @cached_property
    def starts(self) -> dict[ast.stmt, Start]:
        """Where simple statements begin, and the heads of compound ones after their keywords."""
        return self._measured[0]

    @cached_property
    def unit(self) -> int:
        """The indentation of statements."""
        return self._measured[1]

    @cached_property
    def written(self) -> list[Written]:
        """The statements that locations show, in source order."""
        return written_statements(self.listing, self.left, lambda: self.unit) if self.listing is not None else []

    @cached_property
    def _measured(self) -> tuple[dict[ast.stmt, Start], int]:
        """Where statements begin, and their indentation, before any rewriting."""
        starts: dict[ast.stmt, Start] = {}
        work: list[tuple[list[ast.stmt], Start]] = [(self.body, FIRST)]
        while work:
            block, bound = work.pop()
            for stmt in block:
                start = self._start(stmt, bound)
                if start is not None:
                    starts[stmt] = start
                    bound = max(bound, start)
                if NESTS[type(stmt)]:
                    work += [(below, bound) for below, _, _ in inner(stmt)]
        return starts, _unit(starts)

    def _start(self, stmt: ast.stmt, bound: Start) -> Start | None:
        """Return where a statement after `bound` begins."""
        is_compound = NESTS[type(stmt)]
        head = _first(_head_parts(stmt) if is_compound else children(stmt), bound)
        place = place_of(stmt)
        if place is not None and place < bound:
            forget_place(stmt)
            place = None
        if isinstance(stmt, COMPOUND):
            return head
        if isinstance(stmt, ast.Return):
            return _return(place, head)
        if isinstance(stmt, ast.Assign):
            if place is not None and self.makes_functions and of_kinds([stmt.value], MADE):
                return place[:2]  # A definition begins at its store, independent of decorators.
            return _target(stmt.targets[0]) or _stored(stmt)
        return start_of(stmt) if is_compound else _other(stmt, place, head)

    def column(self, stmt: ast.stmt) -> int | None:
        """Return the column of a statement, or None if unknown."""
        if stmt in self.known:
            return self.known[stmt]
        start = self.starts.get(stmt)
        outwards = 0
        while isinstance(stmt, COMPOUND):
            first = stmt.body[0]
            below = self.starts.get(first)
            if start is not None and below is not None and below[0] == start[0]:
                return start[1] - _keyword(stmt) - outwards * self.unit  # All on one line.
            if below is None and not isinstance(first, COMPOUND):
                return None if start is None else start[1] - _keyword(stmt) - outwards * self.unit
            outwards += 1
            stmt, start = first, below
        return None if start is None else start[1] - outwards * self.unit

    def head(self, test: ast.expr, is_turned: bool = False) -> Start | None:
        """Return where a test, or its opposite, begins with its `not`."""
        start = start_of(test)
        nots = leading_nots(negated(test) if is_turned else test)
        return None if start is None else (start[0], start[1] - NOT * nots)

    def last_line(self, test: ast.expr) -> int:
        """Return the last line of a test, 0 if unknown."""
        return max([place.end_line for node in nodes([test]) if (place := place_of(node)) is not None], default=0)

    def of_block(self, block: list[ast.stmt]) -> int | None:
        """Return the column of the first statement with a known one in a block."""
        return next((column for stmt in block if (column := self.column(stmt)) is not None), None)

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
        return start[1] - _keyword(stmt) + self.unit

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


def _unit(starts: dict[ast.stmt, Start]) -> int:
    """Return the number of columns of which most indentations are multiples."""
    heads: set[int] = set()
    lines: dict[int, int] = {}
    for stmt, (line, column) in starts.items():
        if isinstance(stmt, COMPOUND):
            heads.add(line)
        else:
            lines[line] = min(column, lines.get(line, column))
    begins = [column for line, column in lines.items() if line not in heads]
    fits = (unit for unit in (UNIT, 3, 2) if sum(column % unit == 0 for column in begins) >= MOST * len(begins))
    return next(fits, 1)


def _first(near: list[ast.AST], bound: Start) -> Start | None:
    """Return the location of the first of some nodes and their descendants, or None if unknown.

    Removes the locations of earlier statements: the exit from a `with` has the location of the `with`.
    """
    first: Place | None = None
    limit = (bound[0], bound[1] + 1) if bound > FIRST else FIRST
    for node in near:  # The list grows during the iteration.
        fields = node.__dict__
        place: Place | None = fields.get("place")
        if place is not None:
            if place < limit:
                forget_place(node)
            elif first is None or place < first:
                first = place
        for name in INNER[type(node)]:
            value = fields.get(name)
            if type(value) is list:
                near += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                near.append(value)
    return None if first is None else first[:2]


def _other(stmt: ast.stmt, place: Place | None, inside: Start | None) -> Start | None:
    """Return where a simple statement begins, other than an assignment.

    Args:
        place: the location of the statement.
        inside: the location of the first of its expressions.
    """
    if isinstance(stmt, ast.Assert):
        head = start_of(stmt.test)
        return None if head is None else (head[0], head[1] - len("assert " + "not " * leading_nots(stmt.test)))
    first = inside if place is None or (inside is not None and inside < place) else place[:2]
    if isinstance(stmt, ast.Delete):
        return None if first is None else (first[0], first[1] - len("del "))
    return first


def _head_parts(stmt: ast.stmt) -> list[ast.AST]:
    """Return the expressions of the head of a statement."""
    return [child for child in children(stmt) if isinstance(child, (ast.expr, ast.withitem))]


def _keyword(stmt: ast.stmt) -> int:
    """Return the columns of a statement's keyword and the `not` after it."""
    nots = NOT * leading_nots(stmt.test) if isinstance(stmt, (ast.If, ast.While)) else 0
    return KEYWORDS.get(type(stmt), 0) + nots


def _stored(stmt: ast.Assign) -> Start | None:
    """Return where a stored item or attribute begins, because its operation has the location of the whole target."""
    place = place_of(stmt)
    is_whole = len(stmt.targets) == 1 and isinstance(stmt.targets[0], (ast.Attribute, ast.Subscript))
    return place[:2] if is_whole and place is not None and place.line == place.end_line else None


def _return(place: Place | None, head: Start | None) -> Start | None:
    """Return where a `return` begins: one in a `finally` has the location of the last statement there.

    Args:
        head: where its value begins.
    """
    if head is not None and (place is None or place >= head):
        return head[0], head[1] - len("return ")
    return None if place is None else place[:2]


def _target(target: ast.expr) -> Start | None:
    """Return where a target begins, or None if its first name has no location."""
    stars = 0
    while True:
        match target:
            case ast.Starred(value):
                target, stars = value, stars + 1
            case ast.Tuple([first, *_]) | ast.List([first, *_]) if place_of(target) is None:
                target = first
            case _:
                start = start_of(target)
                return None if start is None else (start[0], start[1] - stars)


def start_of(node: ast.AST) -> Start | None:
    """Return the location of the first node inside a node."""
    places = [place for part in nodes([node]) if (place := place_of(part)) is not None]
    return min(places)[:2] if places else None


def span_of(node: ast.AST) -> Span | None:
    """Return the first start and the last end of the nodes in a node, or None if unknown.

    Each node keeps its span: operands of nested tests are compared at every level.
    """
    work = [] if hasattr(node, "span") else [node]
    while work:
        inside = children(work[-1])
        missing = [child for child in inside if not hasattr(child, "span")]
        if missing:
            work += missing
        else:
            current = work.pop()
            current.span = _joined(place_of(current), [child.span for child in inside])  # type: ignore[attr-defined]
    span: Span | None = node.span  # type: ignore[attr-defined]
    return span


def _joined(place: Place | None, inside: list[Span | None]) -> Span | None:
    """Return the span of a node from its own location and the spans of its children."""
    spans = [span for span in inside if span is not None]
    if place is not None:
        spans.append((place[:2], place[2:]))
    return (min(span[0] for span in spans), max(span[1] for span in spans)) if spans else None
