"""One step of the walk: the effect of an operation on the slots, and the normalised operations for it."""

from __future__ import annotations

from depyf.bytecode.draft import Draft
from depyf.bytecode.expansions import rotate
from depyf.bytecode.operations import OPERATIONS
from depyf.bytecode.walk.layout import (
    EXCEPTION,
    EXCEPTION_TYPE,
    GHOST,
    NULL,
    REAL,
    Block,
    Blocks,
    Layout,
    Layouts,
    Slot,
    cut,
    top_slots,
)
from depyf.bytecode.walk.node import Emitted, Point
from depyf.errors import DecompilationError

WITHIN = frozenset(
    "LIST_APPEND SET_ADD MAP_ADD LIST_EXTEND SET_UPDATE DICT_UPDATE DICT_MERGE WITH_EXCEPT_START RERAISE".split()
)
"""Operations whose argument is a depth on the stack, counted below their operands."""

CALLS = ("CALL", "CALL_KW", "CALL_EX")


class Machine:
    """The stacks at one point, changed operation by operation; collects the operations to emit.

    catching, protected: the block stack and the layout for exceptions of this point.
    next_raw: the raw instruction where control continues, or None.
    branches: for each operation that jumps, its index in `emitted` and its target.
    behind: the raw instruction after the loop that is opened here, or -1.
    beyond: where the compiler wrote code as if the last operation fell through, or None.
    marks: emit where blocks are opened and closed, and how `finally` bodies and loops are entered and left.
    """

    def __init__(self, draft: Draft, layouts: Layouts, point: Point, marks: bool = False) -> None:
        self.draft = draft
        self.marks = marks
        self.layouts = layouts
        self.raw = point.raw
        self.layout: Layout = point.layout
        self.blocks: Blocks = point.blocks
        self.catching: Blocks = point.blocks
        self.protected: Layout = point.layout
        self.next_raw: int | None = point.raw + 1
        self.emitted: list[Emitted] = []
        self.branches: list[tuple[int, Point]] = []
        self.beyond: Point | None = None
        self.behind = -1

    def fail(self, reason: str) -> DecompilationError:
        """Return the error for this instruction."""
        return self.draft.fail(self.raw, reason)

    @property
    def target(self) -> int:
        """The raw instruction that this one names."""
        return self.draft.targets[self.raw]

    def emit(self, op: str, arg: object = None) -> None:
        """Emit an operation; the caller updates the slots."""
        self.emitted.append(Emitted(op, arg))

    def branch(self, op: str, role: str = "", arg: object = None) -> None:
        """Emit a jump, with the current stacks, to the target or to a role of this point.

        Args:
            op: the operation that jumps.
            role: an implicit action of the interpreter at this instruction to jump to, as in `Point.role`; empty for
                the target.
            arg: the argument of the operation.
        """
        raw = self.raw if role else self.target
        self.branches.append((len(self.emitted), Point(raw, self.layout, self.blocks, role)))
        self.emit(op, arg)

    def push(self, *slots: Slot) -> None:
        """Push slots."""
        self.layout = self.layouts.push(self.layout, *slots)

    def take(self) -> Slot:
        """Remove the top slot without emitting anything."""
        if self.layout.below is None:
            raise self.fail("the stack is empty here")
        slot = self.layout.top
        self.layout = self.layout.below
        return slot

    def pop(self) -> None:
        """Remove the top value."""
        if self.take().is_real:
            self.emit("POP")

    def tops(self, count: int) -> list[Slot]:
        """Return the topmost slots, lowest first. Raises if there are fewer."""
        slots = top_slots(self.layout, count)
        if len(slots) < count:
            raise self.fail(f"{count} values are needed, the stack has {len(slots)}")
        return slots

    def replace(self, count: int, slots: list[Slot]) -> None:
        """Replace the topmost slots without emitting anything."""
        self.layout = self.layouts.push(cut(self.layout, self.layout.depth - count), *slots)

    def copy(self, depth: int) -> None:
        """Copy the slot `depth` deep; the type of an exception is represented by the exception itself."""
        slots = self.tops(depth)
        slot = slots[0]
        if slot == EXCEPTION_TYPE:
            reals = self.exception_depth(depth)
            self.emit("COPY", reals)
            self.push(REAL)
        elif slot.is_real:
            self.emit("COPY", count_reals(slots))
            self.push(REAL)
        elif slot in (GHOST, NULL):
            self.push(slot)
        else:
            raise self.fail("a program counter cannot be copied")

    def exception_depth(self, depth: int) -> int:
        """Return the depth, among the real values, of the exception whose type is `depth` deep."""
        reals = 0
        for position, slot in enumerate(self.layout.slots(), start=1):
            reals += slot.is_real
            if position > depth and slot == EXCEPTION:
                return reals
        raise self.fail("the exception's type is used after the exception is gone")

    def swap(self, depth: int) -> None:
        """Swap the top slot and the slot `depth` deep; only a changed order of real values is emitted."""
        slots = self.tops(depth)
        if depth < 2:
            return
        low, *between, high = slots
        self.replace(depth, [high, *between, low])
        width = count_reals(between) + 1
        if low.is_real and high.is_real:
            self.emit("SWAP", width + 1)
        elif high.is_real:
            for step in rotate(width):
                self.emit(step.op, step.arg)
        elif low.is_real:
            for step in reversed(rotate(width)):
                self.emit(step.op, step.arg)

    def jump(self, op: str, arg: object) -> None:
        """Execute an operation with a target."""
        operation = OPERATIONS[op]
        assert operation.jump_effect is not None
        iterator = self.layout
        if op == "FOR_ITER":
            self.forget_second_of_iterator(0)
        pops, pushes = operation.effect(arg)
        pops_there, pushes_there = operation.jump_effect(arg)
        self.make_real(pops)
        before = self.layout
        self.replace(pops_there, [REAL] * pushes_there)
        self.branch(op, arg=arg)
        self.layout = before
        self.replace(pops, [REAL] * pushes)
        if op == "FOR_ITER":
            self.layout = self.layouts.push(iterator, REAL)
        if not operation.falls:
            self.next_raw = None

    def operate(self, op: str, arg: object) -> None:
        """Execute any other operation that falls through (or ends the code)."""
        if op == "YIELD_FROM":
            self.forget_second_of_iterator(1)
        pops, pushes = OPERATIONS[op].effect(arg)
        if op in WITHIN:
            assert isinstance(arg, int)
            self.operate_within(op, arg, pops, pushes)
        else:
            arg = self.without_nulls(op, arg, pops)
            pops = OPERATIONS[op].effect(arg)[0]
            self.make_real(pops)
            self.emit(op, arg)
            self.replace(pops, [REAL] * pushes)
        if not OPERATIONS[op].falls:
            self.next_raw = None

    def forget_second_of_iterator(self, under: int) -> None:
        """If the interpreter keeps an iterator as two values, drop the upper one, `under` slots below the top."""
        slots = self.tops(under + 1)
        if slots[0] in (GHOST, NULL):
            self.replace(under + 1, slots[1:])

    def without_nulls(self, op: str, arg: object, pops: int) -> object:
        """Return the argument of a call without the nulls among its operands, which are dropped.

        Args:
            op: the operation; one that is no call keeps its argument.
            arg: the argument: the number of operands, and the position of the null.
            pops: the number of slots that the operation takes.

        Raises:
            DecompilationError: the stack has fewer slots.
        """
        if op not in CALLS:
            return arg
        assert isinstance(arg, tuple)
        slots = self.tops(pops)
        count, shape = arg
        if op == "CALL_EX" and slots[-1] == NULL:
            count, slots = False, slots[:-1]
        if shape == "above" and slots[1] in (GHOST, NULL):
            shape, slots = "plain", [slots[0], *slots[2:]]
        self.replace(pops, slots)
        return (count, shape)

    def make_real(self, count: int) -> None:
        """Ensure that the topmost slots are real values. Raises if a slot exists only in the interpreter."""
        slots = self.tops(count)
        for index, slot in enumerate(slots):
            if slot == NULL:
                self.emit("NULL")
                for step in rotate(count_reals(slots[index:]) + 1):
                    self.emit(step.op, step.arg)
                slots[index] = REAL
        if count_reals(slots) < count:
            raise self.fail("an operation takes a value that only the interpreter knows")
        self.replace(count, slots)

    def operate_within(self, op: str, arg: int, pops: int, pushes: int) -> None:
        """Execute an operation that accesses a slot below the top.

        Args:
            op: the operation.
            arg: the depth of the slot, counted from the top in slots of the interpreter.
            pops: the number of slots from the top to the deepest one that the operation uses.
            pushes: the number of these slots that are on the stack afterwards.

        Raises:
            DecompilationError: one of the values exists only in the interpreter.
        """
        slots = self.tops(pops)
        values = pops - arg if pushes <= arg else 0
        looked_at = slots[: len(slots) - values]
        if not all(slot.is_real for slot in [*looked_at[:1], *slots[len(looked_at) :]]):
            raise self.fail(f"{op} takes a value that only the interpreter knows")
        self.emit(op, count_reals(looked_at))
        self.replace(values, [])
        if pushes > arg:
            self.push(REAL)

    def add_under(self, slot: Slot, under: object) -> None:
        """Record that the interpreter has one more value, `under` slots below the top."""
        assert isinstance(under, int)
        self.replace(under, [slot, *self.tops(under)])

    def drop_to(self, depth: int) -> None:
        """Remove values until `depth` slots are left."""
        while self.layout.depth > depth:
            self.pop()

    def drop_under(self, depth: int) -> None:
        """Remove values below the top until `depth` slots remain below it."""
        top = self.take()
        while self.layout.depth > depth:
            if self.take().is_real:
                self.emit("SWAP", 2)
                self.emit("POP")
        self.push(top)

    def enter_block(self, kind: str, target: int, depth: int) -> None:
        """Push a block on the block stack.

        Args:
            kind: the kind of block: `loop`, `except`, `finally` or `handler`.
            target: the raw instruction at which the loop ends, or the handler begins.
            depth: the number of stack slots below the block.
        """
        self.blocks = (*self.blocks, Block(kind, target, depth))
        self.mark(f"open {kind}")

    def leave_block(self, *kinds: str) -> Block:
        """Pop the innermost block if it is one of these kinds; later operations here no longer raise into it."""
        if not self.blocks or (kinds and self.blocks[-1].kind not in kinds):
            raise self.fail(f"no {' or '.join(kinds) or 'block'} is open here")
        block = self.blocks[-1]
        self.blocks = self.catching = self.blocks[:-1]
        self.mark(f"close {block.kind}")
        return block

    def mark(self, what: str) -> None:
        """Record that a block is opened or closed here, if requested."""
        if self.marks:
            self.emit("MARK", what)


def count_reals(slots: list[Slot]) -> int:
    """Count the real slots."""
    return sum(slot.is_real for slot in slots)
