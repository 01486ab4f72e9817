"""Fold the three-address code of a block into expressions and statements.

Before: v1 = LOAD_GLOBAL f; v2 = LOAD_FAST x; v3 = CALL v1 v2; STORE_FAST y v3
After:  y = f(x)

Unused values are *pending*, in the order of their computation. An operation may take pending values into its expression
only if that keeps the order of evaluation (`lift/order.py`). A value that cannot be folded is assigned to its
temporary.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import cast

from depyf.bytecode.records import dataclass
from depyf.decompiler.graph.tac import HALVES, Graph, Inst, is_second_half
from depyf.decompiler.lift import order
from depyf.decompiler.lift.extent import Extent, note_extent, note_row
from depyf.decompiler.lift.nodes import EMPTY, IMPURE, PURE, Augmented, Entry, Ref, Temp
from depyf.decompiler.lift.slots import Slots
from depyf.errors import DecompilationError

APART = HALVES | {"MOVE"}
"""Operations that may have no source location of their own, although their instruction has one."""


@dataclass(slots=True)
class Operands:
    """Operands as expressions, the local variables they read and write, and their effect."""

    exprs: list[ast.expr]
    reads: frozenset[str]
    writes: AbstractSet[str]
    effect: int


Taken = tuple[list[ast.expr], frozenset[str], AbstractSet[str], int]
"""The fields of `Operands`, for callers that do not keep them."""


class Folder:
    """The state of folding one block: finished statements, and pending values in order.

    `uses` is how often each temporary is read in the whole graph, `added` how often an operation adds to a display.
    """

    def __init__(self, graph: Graph, uses: dict[int, int]) -> None:
        self.graph = graph
        self.uses = uses
        self.places = graph.places
        self.stmts: list[ast.stmt] = []
        self.pending: list[Entry] = []
        self.by_temp: dict[int, Entry] = {}
        self.slots: Slots | None = None
        self.insts: list[Inst] = []
        self.position = 0
        self.told = 0
        self.added: Counter[tuple[str, int]] | None = None

    def fold(self, insts: list[Inst], rules: dict[str, Callable[[Folder, Inst], None]]) -> None:
        """Fold these operations, in order."""
        self.fold_expression(insts, rules, whole=True)

    def fold_expression(
        self, insts: list[Inst], rules: dict[str, Callable[[Folder, Inst], None]], *, whole: bool = False
    ) -> None:
        """Fold operations in order, up to the first that makes a statement.

        Args:
            insts: the operations of one block.
            rules: by operation, the function that folds it.
            whole: fold all operations, even after a statement.

        Raises:
            DecompilationError: an operation has no expression.
        """
        self.insts = insts
        self.position = self.told = 0
        self.added = None
        end, rule_of, stmts = len(insts), rules.get, self.stmts
        while (position := self.position) < end and (whole or not stmts):
            inst = insts[position]
            self.position = position + 1
            rule = rule_of(inst.op)
            if rule is None:
                raise self.error(f"operation {inst.op} cannot be folded", inst)
            rule(self, inst)

    def error(self, reason: str, inst: Inst) -> DecompilationError:
        """Return the error for an operation."""
        return DecompilationError(reason, code=str(self.graph.code), offset=inst.offset)

    # -- values ------------------------------------------------------------------

    def push(
        self,
        inst: Inst,
        expr: ast.expr,
        effect: int = IMPURE,
        reads: frozenset[str] = EMPTY,
        writes: AbstractSet[str] = EMPTY,
    ) -> Entry:
        """Make `expr` the value of the operation's temporary, pending until it is used.

        Args:
            inst: the operation, which defines one temporary.
            expr: the expression that computes the value.
            effect: the strongest effect of the expression: PURE to IMPURE.
            reads: the local variables that the expression reads.
            writes: the local variables that it binds.

        Returns:
            the pending entry of the value.
        """
        temp, offset = inst.defs[0], inst.offset
        if not self.places:
            note_row(expr, inst.line)
        elif inst.op in APART:
            self.locate(expr, inst)
        elif offset >= 0 and (place := self.places[offset >> 1]) is not None:
            expr.place = place  # type: ignore[attr-defined]
        entry = self.by_temp[temp] = Entry(
            temp, expr, effect, reads, writes, self.uses.get(temp, 0), inst.line, []
        )
        self.pending.append(entry)
        return entry

    def combine(
        self, inst: Inst, make: Callable[[list[ast.expr]], ast.expr], effect: int = IMPURE
    ) -> Entry:
        """Push the expression that `make` builds from the operands.

        Args:
            inst: the operation, with its operands and one result.
            make: builds the expression from the operands, the lowest on the stack first.
            effect: the effect of the operation itself, without those of its operands.

        Returns:
            the pending entry of the value.
        """
        exprs, reads, writes, operands_effect = self.taken(inst.uses)
        return self.push(inst, make(exprs), operands_effect if operands_effect > effect else effect, reads, writes)

    def take(self, temps: list[int]) -> Operands:
        """Return operands for an expression that uses them in this order.

        Pending values that cannot be moved there are first assigned to their temporaries.
        """
        return Operands(*self.taken(temps))

    def taken(self, temps: list[int]) -> Taken:
        """Return what `take` returns, as a tuple."""
        pending = self.pending
        if len(temps) == 1 and pending and pending[-1].temp == temps[0] and is_plain(pending[-1]):
            entry = pending.pop()
            del self.by_temp[entry.temp]
            return [entry.expr], entry.reads, EMPTY | entry.writes if entry.writes else EMPTY, entry.effect
        first = len(pending) - len(temps)
        tail = pending[first:]
        if [entry.temp for entry in tail] == temps and all(map(is_plain, tail)):
            del self.pending[first:]
            return self._inline(tail)
        self._settle(temps)
        inlined = order.plan(self, temps)
        operands = Operands([], EMPTY, EMPTY, PURE)
        for temp in temps:
            operands.exprs.append(self._operand(temp, inlined, operands))
        return operands.exprs, operands.reads, operands.writes, operands.effect

    def _inline(self, entries: list[Entry]) -> Taken:
        reads, effect = EMPTY, PURE
        writes: AbstractSet[str] = EMPTY
        for entry in entries:
            del self.by_temp[entry.temp]
            if entry.reads:
                reads |= entry.reads
            if entry.writes:
                writes |= entry.writes
            if entry.effect > effect:
                effect = entry.effect
        return [entry.expr for entry in entries], reads, writes, effect

    def _operand(self, temp: int, inlined: set[int], operands: Operands) -> ast.expr:
        entry = self.by_temp.get(temp)
        if entry is None:
            return Temp(temp=temp)
        entry.uses -= 1
        operands.reads |= entry.reads
        operands.writes |= entry.writes
        if temp in inlined:
            operands.effect = max(operands.effect, entry.effect)
            self.discard(entry)
            return entry.expr
        operands.effect = max(operands.effect, min(entry.effect, order.LOCAL))
        entry.shared = True
        return Ref(entry=entry)

    def _settle(self, temps: list[int]) -> None:
        """Finish operands that are already stored to targets, or are half of `x += y`."""
        for temp in temps:
            entry = self.by_temp.get(temp)
            if entry is None:
                continue
            if entry.targets and all(isinstance(target, ast.Name) for target in entry.targets):
                for target in entry.targets:
                    assert isinstance(target, ast.Name)
                    entry.expr = ast.NamedExpr(target=target, value=entry.expr)
                entry.targets = []
            elif entry.targets or is_augmented(entry):
                self.spill_through(entry)

    def discard(self, entry: Entry) -> None:
        """Remove a value from the pending ones."""
        for place in range(len(self.pending) - 1, -1, -1):
            if self.pending[place] is entry:
                del self.pending[place]
                break
        del self.by_temp[entry.temp]

    # -- statements ----------------------------------------------------------------

    def emit(self, stmt: ast.stmt, line: int | None, stores: Iterable[str] = ()) -> None:
        """Append a statement, after assigning to temporaries the pending values that it must not overtake.

        Args:
            stmt: the statement.
            line: its line in the source, or None.
            stores: the local variables that the statement binds.
        """
        if self.slots is not None:
            self.slots.abandon()
        if self.pending:
            self._flush(frozenset(stores))
        self.append(stmt, line)

    def append(self, stmt: ast.stmt, line: int | None) -> None:
        """Append a statement that is already ordered with respect to pending values."""
        stmt.lineno = line if line is not None else 0
        note_extent(stmt, self.extent())
        if self.position:
            self.locate(stmt, self.insts[self.position - 1])
        self.stmts.append(stmt)

    def locate(self, node: ast.AST, inst: Inst) -> None:
        """Record the source location of the operation that makes a node."""
        offset, op = inst.offset, inst.op
        if offset < 0 or op == "MOVE" or not self.places:
            return
        if op not in HALVES or not is_second_half(self.insts, self.position - 1):
            place = self.places[offset >> 1]
            if place is not None:
                node.place = place  # type: ignore[attr-defined]

    def drops_next(self, temp: int) -> bool:
        """Return whether the next operation drops a value: then its store is an expression, `(a := b)`."""
        following = self.insts[self.position] if self.position < len(self.insts) else None
        return following is not None and following.uses == [temp]

    def extent(self) -> Extent:
        """Return the offsets of the first and the last operation since the previous call, or of the last one."""
        position = self.position
        start = min(self.told, max(position - 1, 0))
        self.told = position
        # An expression from several blocks has no offset of its own.
        offsets = [inst.offset for inst in self.insts[start:position] if inst.offset >= 0]
        return (min(offsets), max(offsets)) if offsets else (-1, -1)

    def _flush(self, stores: frozenset[str]) -> None:
        last = None
        for entry in self.pending:
            if needs_name(entry) or entry.reads & stores:
                last = entry
        if last is not None:
            self.spill_through(last, stores)
        else:
            self.pending = [self._kept(entry) for entry in self.pending]

    def spill_through(self, last: Entry, stores: frozenset[str] = EMPTY) -> None:
        """Assign `last`, and before it all earlier values whose order matters, to temporaries.

        The order of a value matters if `stores`, or a value after it, sets a variable that it reads.
        """
        spilled: set[int] = set()
        reached = False
        for entry in reversed(self.pending):
            reached = reached or entry is last
            if reached and (entry is last or needs_name(entry) or entry.reads & stores):
                spilled.add(entry.temp)
                stores = stores | entry.writes
        pending, self.pending = self.pending, []
        for entry in pending:
            if entry.temp in spilled:
                self._spill(entry)
            else:
                self.pending.append(self._kept(entry))

    def _kept(self, entry: Entry) -> Entry:
        """Return a value that stays pending for later uses; earlier uses are in preceding statements."""
        if not entry.shared or not order.is_atom(entry):
            return entry
        entry.replacement = entry.expr
        kept = self.by_temp[entry.temp] = replace(entry, replacement=None, shared=False)
        return kept

    def _spill(self, entry: Entry) -> None:
        del self.by_temp[entry.temp]
        name = Temp(temp=entry.temp)
        entry.replacement = name
        named = entry.uses > 0 or entry.shared
        if is_augmented(entry):
            assert isinstance(entry.expr, Augmented)
            self.append(ast.Assign(targets=[name], value=entry.expr.left), entry.line)
            target = cast(ast.Name, name)
            self.append(ast.AugAssign(target=target, op=entry.expr.op, value=entry.expr.right), entry.line)
        elif named or entry.targets:
            targets = entry.targets + ([name] if named else [])
            self.append(ast.Assign(targets=targets, value=entry.expr), entry.line)
        else:
            self.append(ast.Expr(value=entry.expr), entry.line)

    def finish(self) -> None:
        """Assign every value that is still used to its temporary."""
        for entry in self.pending:
            if entry.uses or needs_name(entry):
                self._spill(entry)
        self.pending = []
        self.by_temp = {}


def is_augmented(entry: Entry) -> bool:
    """Return whether the value is an in-place operation that has not been stored yet."""
    return type(entry.expr) is Augmented


def is_plain(entry: Entry) -> bool:
    """Return whether a value is untouched and has one remaining use."""
    return entry.uses == 1 and not entry.shared and not entry.targets and type(entry.expr) is not Augmented


def needs_name(entry: Entry) -> bool:
    """Return whether a pending value must be computed before a statement."""
    return entry.effect == IMPURE or bool(entry.targets) or (entry.shared and not order.is_atom(entry))
