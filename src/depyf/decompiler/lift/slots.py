"""Targets of an unpacking that are filled one by one.

Before: v1 v2 = UNPACK_SEQUENCE v0; STORE_FAST a v1; v3 = LOAD_FAST o; STORE_ATTR b v2 v3
After:  (a, o.b) = v0

The same works for `a, b = b, a`, in which the compiler leaves the values on the stack.
"""

from __future__ import annotations

import ast
from typing import Protocol

from depyf.decompiler.lift.nodes import Entry, Temp, Var
from depyf.decompiler.lift.order import Pending


class Unpacking(Pending, Protocol):
    """Pending values together with an unpacking whose targets are not all known."""

    slots: Slots | None


class Slots:
    """An assignment whose targets are not all known yet.

    `entry` is the pending value that is unpacked; `open` are the temporaries whose stores are still to come, the next
    one last.
    """

    def __init__(self, folder: Unpacking, entry: Entry) -> None:
        self.folder = folder
        self.entry = entry
        self.open: list[int] = []
        self.place: dict[int, tuple[ast.Tuple | ast.Starred, int]] = {}
        self.stores: set[str] = set()
        self.dropped: list[int] = []

    def unpack(self, temps: list[int], starred: int | None) -> ast.Tuple:
        """Return a new target tuple for these temporaries; the one at `starred` collects the rest."""
        target = ast.Tuple(elts=[Temp(temp=temp) for temp in temps], ctx=ast.Store())
        for number, temp in enumerate(temps):
            self.place[temp] = (target, number)
        if starred is not None:
            star = ast.Starred(value=target.elts[starred], ctx=ast.Store())
            target.elts[starred] = star
            self.place[temps[starred]] = (star, 0)
        self.open.extend(reversed(temps))
        return target

    def expects(self, temp: int) -> bool:
        """Return whether this temporary is stored next."""
        return self.open[-1] == temp

    def fill(self, temp: int, target: ast.expr) -> None:
        """Set the target of the temporary that is stored next."""
        self.open.pop()
        self._put(temp, target)
        if isinstance(target, ast.Name):
            self.stores.add(target.id)
        if isinstance(target, Var) and target.scope == "fast":
            for dropped in self.dropped:
                self._put(dropped, Var(id=target.id, ctx=ast.Store(), scope="fast"))
        self.dropped = []

    def drop(self, temp: int) -> None:
        """Leave out the next temporary: it was stored to the same variable as the one after it.

        The compiler drops the first of two consecutive stores to the same variable.
        """
        self.open.pop()
        self.dropped.append(temp)

    def _put(self, temp: int, target: ast.expr) -> None:
        holder, number = self.place[temp]
        if isinstance(holder, ast.Starred):
            holder.value = target
        else:
            holder.elts[number] = target

    def close(self) -> None:
        """Finish the assignment if every target is known; a value with later uses may get more targets."""
        if not self.open:
            self.folder.slots = None
            if not self.entry.uses:
                self.abandon()

    def abandon(self) -> None:
        """Finish the assignment; unknown targets stay temporaries."""
        folder = self.folder
        folder.slots = None
        folder.spill_through(self.entry, frozenset(self.stores))
