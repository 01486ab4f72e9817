"""`global` and `nonlocal` where lines leave room for them, with their names in the order of the code's stores.

Before: global cache            After:  if not key: return None
        if not key: return None         global cache
        if cache is None: ...           if cache is None: ...

A declaration has a line, but no operation. If no line is free before the first statement, it goes before the statement
that first names the variable.
"""

from __future__ import annotations

import ast

from depyf.bytecode.code import CO_OPTIMIZED, Code
from depyf.bytecode.docstring import docstring
from depyf.bytecode.listing import Listing
from depyf.decompiler.lift.extent import place_of
from depyf.decompiler.lift.nodes import Var
from depyf.decompiler.passes.body import Body
from depyf.decompiler.passes.registry import WRITTEN, Stage, registers
from depyf.decompiler.passes.scopes import declare, own_variables
from depyf.decompiler.passes.unreached import Reached
from depyf.decompiler.passes.walk import inner, nodes
from depyf.decompiler.steps import step

Declaration = ast.Global | ast.Nonlocal
Part = tuple[list[ast.stmt], set[str], int]
"""A block, the names that it is the first to name, and the last line before it."""
Spot = tuple[list[ast.stmt], ast.stmt]
"""A block, and its statement before which a declaration goes."""


@registers(
    "declarations",
    Stage.BODY,
    "declare `global` and `nonlocal`",
    takes=("body", "listing", "known", "without"),
    after={"definitions": "declarations depend on the reads of nested code"},
)
def declare_variables(body: Body, listing: Listing, known: object, without: frozenset[str]) -> None:
    """Declare variables at the start of a function, and move the declarations to their lines.

    Args:
        body: the statements of one code object, changed in place.
        listing: the instructions, which show the variables that nested code captures.
        known: the facts about program-written code; None if the code comes from a source.
        without: names of optional passes to leave out; `as-written` keeps the declarations at the start.
    """
    declare(body, Reached.of(listing))
    if known is None and WRITTEN not in without:
        place_declarations(body)


def place_declarations(body: Body) -> None:
    """Move the declarations at the start of a function to their lines, in place."""
    code, stmts = body.code, body.stmts
    count = next((place for place, stmt in enumerate(stmts) if not isinstance(stmt, Declaration)), len(stmts))
    if not 0 < count < len(stmts) or not code.flags & CO_OPTIMIZED:
        return
    declared = [stmt for stmt in stmts[:count] if isinstance(stmt, Declaration)]
    rest = stmts[count:]
    names = {name for stmt in declared for name in stmt.names}
    above = _line_above(code)
    spots = _spots(rest, names, above) if line_of(rest[0]) == above + 1 else {}
    order = _order(rest)
    leading: list[ast.stmt] = []
    for stmt in declared:
        stmt.names.sort(key=lambda name: (order.get(name, len(order)), name))
        for name in stmt.names:
            if name in spots:
                _insert(*spots[name], name, type(stmt))
        stmt.names = [name for name in stmt.names if name not in spots]
        leading += [stmt] if stmt.names else []
    body.stmts = [*leading, *rest]


def line_of(stmt: ast.stmt) -> int:
    """Return the line of a statement, 0 if unknown; `try` is on the line before its first statement."""
    above = 0
    while isinstance(stmt, ast.Try):
        stmt, above = stmt.body[0], above + 1
    line: int = getattr(stmt, "lineno", 0)
    return max(0, line - above)


def _line_above(code: Code) -> int:
    """Return the last line before the first statement of a function with a one-line head."""
    text = docstring(code)
    return code.first_line + (0 if text is None else text.count("\n") + 1)


def _order(stmts: list[ast.stmt]) -> dict[str, int]:
    """Return the rank of each name among those that statements bind, in the order of the source."""
    bound = [node.id for node in nodes(stmts) if isinstance(node, Var) and isinstance(node.ctx, ast.Store)]
    return {name: place for place, name in enumerate(dict.fromkeys(bound))}


def _spots(block: list[ast.stmt], names: set[str], above: int) -> dict[str, Spot]:
    """Return by name where a line is free before the statement that first names it, or above that.

    A line directly before the statement comes first, and outer blocks come before inner ones.
    """
    spots: dict[str, Spot] = {}
    work: list[Part] = [(block, names, above)]
    for part, left, last in work:  # The list grows during the iteration.
        free: list[ast.stmt] = []
        for stmt in part:
            if not left:
                break
            if line_of(stmt) >= last + 2:
                free = [stmt]
            if here := left.intersection([variable.id for variable in own_variables([stmt], True)]):
                left = left - here
                spots.update((name, (part, free[0])) for name in here if free)
                if not free or free[0] is not stmt:
                    work += _parts(stmt, here)
            last = max(last, _end_of([stmt]))
    return spots


def _parts(stmt: ast.stmt, names: set[str]) -> list[Part]:
    """Return the blocks of a statement that are the first in it to name some of these names."""
    last = line_of(stmt)
    parts: list[Part] = []
    for block, _, name in inner(stmt):
        last += name == "orelse"
        here = names.intersection([variable.id for variable in own_variables(block, True)])
        parts.append((block, here, last))
        names = names - here
        last = max(last, _end_of(block))
    return parts


def _end_of(stmts: list[ast.stmt]) -> int:
    """Return the last known line of statements."""
    last_line = 0
    for node in nodes(stmts):
        place = place_of(node)
        last_line = max(last_line, getattr(node, "lineno", 0) if place is None else place.end_line)
    return last_line


def _insert(block: list[ast.stmt], stmt: ast.stmt, name: str, kind: type[Declaration]) -> None:
    place = block.index(stmt)
    step("line {}: `{}` is declared above", line_of(stmt), name)
    before = block[place - 1] if place else None
    if isinstance(before, kind):
        before.names.append(name)
    else:
        block.insert(place, kind(names=[name]))
