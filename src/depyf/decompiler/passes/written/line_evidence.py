"""The evidence of lines alone, which is all that code of 3.10 and older keeps of its source.

A line on which nothing is done but to leave holds a `return` or a `continue` of the source.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right

from depyf.bytecode.code import CO_ASYNC_GENERATOR, CO_GENERATOR
from depyf.bytecode.listing import Instruction, Listing
from depyf.decompiler.lift.extent import extent_of
from depyf.decompiler.passes.walk import inner, statements
from depyf.decompiler.passes.written.declarations import line_of
from depyf.decompiler.passes.written.evidence import Kind, Written, is_cleanup, is_none, leaves

GIVING = ("get", "find")
"""What the names of functions begin with that return None where they find nothing."""
WHOLE = 2
"""How many operations a function has that does nothing."""
GENERATOR = CO_GENERATOR | CO_ASYNC_GENERATOR
LEAVING = frozenset({"POP_EXCEPT", "POP", "SWAP"})
TESTS = frozenset({"JUMP_IF_TRUE", "JUMP_IF_FALSE"})
HANDLING = frozenset({"RERAISE", "PUSH_EXC_INFO"})


class Lines:
    """The lines of the statements of one code object."""

    def __init__(self, listing: Listing) -> None:
        known = sorted((one.offset, one.line) for one in listing.instructions if one.line is not None)
        self.offsets = [offset for offset, _ in known]
        self.of = [line for _, line in known]
        self.bare = _bare(listing)
        self.ways_out = statements_on_lines(listing, self.bare)
        self.leaving = [one.line for one in self.ways_out]
        self.is_generator = bool(listing.code.flags & GENERATOR)
        self.skips = listing.skips
        self.has_skips = listing.source_order
        self.has_idle_end = listing.has_idle_end
        self.has_loops = bool(listing.loops)
        self.code = sorted((one.offset, one.op) for one in listing.instructions)

    def leaves_between(self, first: int, last: int) -> bool:
        """Return whether a way out of its own stands between two lines."""
        return bisect_right(self.leaving, first) < bisect_left(self.leaving, last)

    def first(self, stmt: ast.stmt) -> int:
        """Return the line on which a statement begins, 0 where nothing says it."""
        lines = [] if inner(stmt) else self._of(stmt)
        return min(lines, default=line_of(stmt))

    def head(self, stmt: ast.stmt) -> int:
        """Return the last line of a statement without what it holds, 0 where nothing says it."""
        return max(getattr(stmt, "lineno", 0), *self._of(stmt), 0)

    def last(self, block: list[ast.stmt]) -> int:
        """Return the last line of statements that is known; a `break` without one stands below what is before it."""
        found = 0
        for stmt in statements(block):
            found = max(found, self.head(stmt))
        is_unseen = found and isinstance(block[-1], ast.Break) and not hasattr(block[-1], "lineno")
        return found + 1 if is_unseen else found

    def arm(self, stmt: ast.If, rest: list[ast.stmt]) -> int | None:
        """Return how many of the statements behind a test's way out stand in the `else` of it, None where unknown.

        Up to 3.9 a jump over the `else` is left behind each way out but `return`, though nothing reaches it.
        """
        way_out = stmt.body[-1]
        behind = self._behind(stmt) if isinstance(way_out, (ast.Raise, ast.Break, ast.Continue)) else None
        if behind is None:
            return None
        if behind in self.skips:
            end = self.skips[behind]
            return next((number for number, one in enumerate(rest) if start_offset(one) >= end > behind), len(rest))
        if isinstance(way_out, ast.Continue) and getattr(way_out, "lineno", 0) not in self.leaving:
            return None
        return 0 if self.has_skips and not (isinstance(way_out, ast.Break) and self.has_loops) else None

    def _behind(self, stmt: ast.If) -> int | None:
        """Return the offset of what follows the way out at the end of a test's body, None where that is not known."""
        end = max(_extents(stmt), default=-1)
        number = bisect_left(self.code, (end + 1, ""))
        while number < len(self.code) and self.code[number][1] in TESTS | LEAVING:
            number += 1
        left = "RAISE" if isinstance(stmt.body[-1], ast.Raise) else "JUMP"
        found = self.code[number : number + 2]
        return found[1][0] if end >= 0 and len(found) > 1 and found[0][1] == left else None

    def _of(self, stmt: ast.stmt) -> list[int]:
        """Return the lines of the instructions that a statement came from."""
        extent = extent_of(stmt)
        if extent is None:
            return []
        return self.of[bisect_left(self.offsets, extent[0]) : bisect_right(self.offsets, extent[1])]


def _extents(stmt: ast.If) -> list[int]:
    """Return the offsets of the first and last instruction of each statement that a test holds before its `else`."""
    return [offset for one in [stmt, *statements(stmt.body)] for offset in extent_of(one) or () if offset >= 0]


def start_offset(stmt: ast.stmt) -> int:
    """Return the offset of the first instruction of a statement, 0 where nothing says it."""
    found = [extent[0] for one in statements([stmt]) if (extent := extent_of(one)) is not None]
    return min((offset for offset in found if offset >= 0), default=0)


def _bare(listing: Listing) -> Kind:
    """Return how a function most likely writes that it returns None: as such where it returns values elsewhere."""
    instructions = listing.instructions
    name = listing.code.name
    if len(instructions) == WHOLE and name.lstrip("_").startswith(GIVING) and not name.startswith("__"):
        return Kind.NONE
    returns = [number for number, one in enumerate(instructions) if one.op == "RETURN"]
    has_values = not all(_returns_none(instructions, number) for number in returns)
    return Kind.NONE if has_values and not listing.code.flags & GENERATOR else Kind.RETURN


def _returns_none(instructions: list[Instruction], number: int) -> bool:
    """Return whether an instruction returns None, or what was made before it left a `with`, whatever it leaves."""
    while number and (instructions[number - 1].op in LEAVING or is_cleanup(instructions[number - 3 : number])):
        number -= 1 if instructions[number - 1].op in LEAVING else 3
    if not number:
        return False
    return is_none(instructions[number - 1]) or instructions[number].op == "POP"


def statements_on_lines(listing: Listing, bare: Kind) -> list[Written]:
    """Return the ways out that have a line of their own, in the order of the source.

    bare: how `return` without a value is written.
    """
    instructions = listing.instructions
    busy = {
        one.line
        for number, one in enumerate(instructions)
        if one.op not in HANDLING and not leaves(instructions, number)
    }
    found: dict[int, Kind] = {}
    for number, one in enumerate(instructions):
        if one.line is None or one.line in busy:
            continue
        if one.op == "RETURN" and _returns_none(instructions, number):
            found[one.line] = bare
        elif one.op == "JUMP" and one.target < number and (instructions[one.target].line or one.line) < one.line:
            found.setdefault(one.line, Kind.CONTINUE)
    return [Written(line, None, kind) for line, kind in sorted(found.items())]
