"""What holds at statements, as the bytecode tells it: variables that are surely bound, and what handlers read.

Statements are found in the bytecode by their lines. What else stands there makes less known, never more.
"""

from __future__ import annotations

import ast
import types

from depyf.bytecode.normalise import normalise
from depyf.bytecode.reader import read
from depyf.verify.flow import Flow
from tools.survivors.difference import Function


class Places:
    """The places of one function.

    reads_frame: whether somebody may look at all its variables.
    plain: its local variables that no function inside it shares.
    """

    def __init__(self, code: types.CodeType, function: Function, *, reads_frame: bool) -> None:
        self.function = function
        self.reads_frame = reads_frame
        self.plain = frozenset(code.co_varnames) - frozenset(code.co_cellvars)
        self.listing = normalise(read(code))
        self.flow = Flow(self.listing)
        self._bound = self.flow.bound

    def at(self, *stmts: ast.stmt) -> tuple[frozenset[str], frozenset[str]] | None:
        """Return the variables that are bound when the first of some statements begins, and those that a handler reads.

        A handler that an exception from any of the statements may go to; None where the statements are not found.
        """
        lines = [range(stmt.lineno, (stmt.end_lineno or stmt.lineno) + 1) for stmt in stmts]
        items = list(enumerate(self.listing.instructions))
        first = [place for place, item in items if item.line in lines[0]]
        found = [place for place, item in items if any(item.line in part for part in lines)]
        if not first:
            return None
        bound, seen = (1 << len(self.flow.bit)) - 1, 0
        for place in first:
            bound &= self._bound[place]
        for place in found:
            handler = self.flow.handlers[place]
            if handler >= 0:
                seen |= self.flow.live(handler)
        return self.named(bound) & self.plain, self.named(seen) | self.shown()

    def is_constant(self, name: str) -> bool:
        """Tell whether a name in the text is no variable, but a placeholder for a constant of the code."""
        return all(item.arg != name for item in self.listing.instructions)

    def named(self, mask: int) -> frozenset[str]:
        """Return the variables of a set."""
        return frozenset(name for name in self.flow.bit if mask & self.flow.bit[name])

    def shown(self) -> frozenset[str]:
        """Return what `super()` looks at: the first parameter."""
        names_super = any(isinstance(node, ast.Name) and node.id == "super" for node in ast.walk(self.function))
        return frozenset(self.listing.code.parameters[:1]) if names_super else frozenset()
