"""The evidence of lines, for code of 3.10 and older, which keeps nothing else of its source.

A line with only an exit holds a `return` or a `continue` of the source.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right

from depyf.bytecode.code import CO_ASYNC_GENERATOR, CO_GENERATOR
from depyf.bytecode.line_table import read_lines
from depyf.bytecode.listing import Instruction, Listing
from depyf.bytecode.versions.known import facts_of
from depyf.decompiler.lift.extent import extent_of
from depyf.decompiler.passes.declarations import line_of
from depyf.decompiler.passes.source_form.evidence import Kind, Written, is_cleanup, is_none, leaves
from depyf.decompiler.passes.walk import inner, statements

EXIT = 2
"""The number of lines from a statement to another one if there is an exit between them."""
GENERATOR = CO_GENERATOR | CO_ASYNC_GENERATOR
LEAVING = frozenset({"POP_EXCEPT", "POP", "SWAP"})
TESTS = frozenset({"JUMP_IF_TRUE", "JUMP_IF_FALSE"})
HANDLING = frozenset({"RERAISE", "PUSH_EXC_INFO"})


class Lines:
    """The lines of the statements of one code object."""

    def __init__(self, listing: Listing) -> None:
        known = sorted(
            (instruction.offset, instruction.line)
            for instruction in listing.instructions
            if instruction.line is not None
        )
        self.offsets = [offset for offset, _ in known]
        self.of = [line for _, line in known]
        self.bare = _bare(listing)
        self.ways_out = statements_on_lines(listing, self.bare)
        self.leaving = [exit_.line for exit_ in self.ways_out]
        self.is_generator = bool(listing.code.flags & GENERATOR)
        self.skips = listing.skips
        self.has_skips = listing.source_order
        self.has_idle_end = listing.has_idle_end
        self.has_loops = bool(listing.loops)
        self.code = sorted((instruction.offset, instruction.op) for instruction in listing.instructions)
        table = facts_of(listing.code.version, str(listing.code)).lines
        self.known = sorted({line for line in read_lines(listing.code, table) if line is not None})
        self.has_all = table == "ranges"

    def has_room(self, first: int, last: int) -> bool:
        """Return whether there is a line for an exit between two others: from 3.10 on, each exit has a known line."""
        is_free = bisect_right(self.known, first) == bisect_left(self.known, last)
        return last - first >= EXIT and (not is_free or (not self.has_all and last - first == EXIT))

    def leaves_between(self, first: int, last: int) -> bool:
        """Return whether there is a separate exit between two lines."""
        return bisect_right(self.leaving, first) < bisect_left(self.leaving, last)

    def first(self, stmt: ast.stmt) -> int:
        """Return the line on which a statement begins, 0 if unknown."""
        lines = [] if inner(stmt) else self._of(stmt)
        return min(lines, default=line_of(stmt))

    def head(self, stmt: ast.stmt) -> int:
        """Return the last line of a statement's head, 0 if unknown."""
        return max(getattr(stmt, "lineno", 0), *self._of(stmt), 0)

    def last(self, block: list[ast.stmt]) -> int:
        """Return the last known line of statements; a `break` without a line is below the previous statement."""
        last_line = 0
        for stmt in statements(block):
            last_line = max(last_line, self.head(stmt))
        is_unseen = last_line and isinstance(block[-1], ast.Break) and not hasattr(block[-1], "lineno")
        return last_line + 1 if is_unseen else last_line

    def arm(self, stmt: ast.If, rest: list[ast.stmt]) -> int | None:
        """Return how many of the statements after a test's exit are in its `else`, or None if unknown.

        Up to 3.9 an unreachable jump over the `else` remains after each exit except `return`.
        """
        way_out = stmt.body[-1]
        behind = self._behind(stmt) if isinstance(way_out, (ast.Raise, ast.Break, ast.Continue)) else None
        if behind is None:
            return None
        if behind in self.skips:
            end = self.skips[behind]
            return next(
                (number for number, following in enumerate(rest) if start_offset(following) >= end > behind), len(rest)
            )
        if isinstance(way_out, ast.Continue) and getattr(way_out, "lineno", 0) not in self.leaving:
            return None
        return 0 if self.has_skips and not (isinstance(way_out, ast.Break) and self.has_loops) else None

    def _behind(self, stmt: ast.If) -> int | None:
        """Return the offset of the code after the exit at the end of a test's body, or None if unknown."""
        end = max(_extents(stmt), default=-1)
        number = bisect_left(self.code, (end + 1, ""))
        while number < len(self.code) and self.code[number][1] in TESTS | LEAVING:
            number += 1
        left = "RAISE" if isinstance(stmt.body[-1], ast.Raise) else "JUMP"
        next_ops = self.code[number : number + 2]
        return next_ops[1][0] if len(next_ops) > 1 and next_ops[0][1] == left else None

    def _of(self, stmt: ast.stmt) -> list[int]:
        """Return the lines of the instructions that a statement came from."""
        extent = extent_of(stmt)
        if extent is None:
            return []
        return self.of[bisect_left(self.offsets, extent[0]) : bisect_right(self.offsets, extent[1])]


def _extents(stmt: ast.If) -> list[int]:
    """Return the offsets of the first and last instruction of each statement in a test before its `else`."""
    return [offset for part in [stmt, *statements(stmt.body)] for offset in extent_of(part) or () if offset >= 0]


def start_offset(stmt: ast.stmt) -> int:
    """Return the offset of the first instruction of a statement, 0 if unknown."""
    starts = [extent[0] for statement in statements([stmt]) if (extent := extent_of(statement)) is not None]
    return min((offset for offset in starts if offset >= 0), default=0)


def _bare(listing: Listing) -> Kind:
    """Return the probable spelling of a return of None: `return None` if the function also returns other values.

    In the library of 3.10, 427 of 489 such functions write it out. A constant alone tells that the function is done.
    """
    instructions = listing.instructions
    returns = [number for number, instruction in enumerate(instructions) if instruction.op == "RETURN"]
    values = [number for number in returns if not _returns_none(instructions, number)]
    has_values = len(values) > 1 or any(instructions[number - 1].op != "CONST" for number in values)
    return Kind.NONE if has_values and not listing.code.flags & GENERATOR else Kind.RETURN


def _returns_none(instructions: list[Instruction], number: int) -> bool:
    """Return whether an instruction returns None, possibly loaded before the exit of a `with`."""
    while instructions[number - 1].op in LEAVING or is_cleanup(instructions[number - 3 : number]):
        number -= 1 if instructions[number - 1].op in LEAVING else 3
    return is_none(instructions[number - 1]) or instructions[number].op == "POP"


def _busy(listing: Listing) -> set[int | None]:
    """Return the lines with operations that are more than part of an exit."""
    instructions = listing.instructions
    return {
        instruction.line
        for number, instruction in enumerate(instructions)
        if instruction.op not in HANDLING and not leaves(instructions, number)
    }


def statements_on_lines(listing: Listing, bare: Kind) -> list[Written]:
    """Return the exits with a line of their own, in the order of the source.

    Args:
        bare: the spelling of `return` without a value.
    """
    instructions, busy = listing.instructions, _busy(listing)
    kinds: dict[int, Kind] = {}
    for number, instruction in enumerate(instructions):
        if instruction.line is None or instruction.line in busy:
            continue
        if instruction.op == "RETURN" and _returns_none(instructions, number):
            kinds[instruction.line] = bare
        elif (
            instruction.op == "JUMP"
            and instruction.target < number
            and (instructions[instruction.target].line or instruction.line) < instruction.line
        ):
            kinds.setdefault(instruction.line, Kind.CONTINUE)
    return [Written(line, None, kind) for line, kind in sorted(kinds.items())]
