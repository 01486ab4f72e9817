"""The walk: visit every reachable point once."""

from __future__ import annotations

from collections.abc import Callable

from depyf.bytecode.depths import stack_depths
from depyf.bytecode.draft import Draft
from depyf.bytecode.listing import Listing
from depyf.bytecode.operand import Step
from depyf.bytecode.operations import OPERATIONS
from depyf.bytecode.walk.arrange import arrange
from depyf.bytecode.walk.block_stack import BLOCK_OPERATIONS, BREAKING, NORMAL, leave_for_loop, leave_loop
from depyf.bytecode.walk.layout import (
    CAUGHT,
    GHOST,
    HANDLED,
    NULL,
    REAL,
    Block,
    Blocks,
    Layout,
    Layouts,
    cut,
    top_slots,
)
from depyf.bytecode.walk.machine import Machine
from depyf.bytecode.walk.node import Catch, Emitted, Node, Point
from depyf.errors import DecompilationError

COPIES, COPIES_OF_SUBROUTINES = 4, 64
"""How often instructions may be copied, on average, for different stacks, and for `finally` subroutines."""


def walk(draft: Draft, marks: bool = False) -> Listing:
    """Return the listing of the reachable code, with handlers by instruction and without ghosts.

    The listing also contains code that only the compiler believed reachable, if it is valid.

    Args:
        marks: with operations MARK where blocks of the block stack are opened and closed, and `finally` bodies called.

    Raises:
        DecompilationError: the code uses the stack or the block stack in a way that no interpreter allows.
    """
    try:
        listing = walk_from_start(draft, marks, beyond=True)
        stack_depths(listing)
        return listing
    except DecompilationError:
        return walk_from_start(draft, marks, beyond=False)


def walk_from_start(draft: Draft, marks: bool, *, beyond: bool) -> Listing:
    """Return the listing of the code that is reachable from the start.

    Args:
        draft: the raw instructions and their expansions.
        marks: whether to emit operations that show where blocks are opened and closed.
        beyond: whether to follow the fallthroughs that only the compiler believed reachable.

    Raises:
        DecompilationError: the code uses the stack or the block stack in a way that no interpreter allows.
    """
    walker = Walker(draft, marks, beyond)
    walker.reach(Point(0, walker.layouts.empty, ()))
    while walker.pending:
        walker.visit(walker.pending.pop())
    for node in walker.nodes.values():
        if not node.emitted:
            walker.protect(node)
    listing = arrange(draft, list(walker.nodes.values()))
    for node in walker.nodes.values():  # They refer to each other, and while code is decompiled nothing collects them.
        node.emitted, node.following, node.catch, node.beyond = [], None, None, None
    return listing


class Walker:
    """The known nodes, and the nodes to visit."""

    def __init__(self, draft: Draft, marks: bool, beyond: bool) -> None:
        self.draft = draft
        self.marks = marks
        self.goes_beyond = beyond
        self.is_done = False
        self.layouts = Layouts()
        self.nodes: dict[Point, Node] = {}
        self.pending: list[Node] = []
        has_subroutines = any(raw.name == "END_FINALLY" for raw in draft.raws)
        self.limit = (COPIES_OF_SUBROUTINES if has_subroutines else COPIES) * (len(draft.raws) + 1)

    def reach(self, point: Point) -> Node:
        """Return the node of a point; a new node will be visited."""
        node = self.nodes.get(point)
        if node is None:
            if point.raw >= len(self.draft.raws):
                raise self.draft.fail(len(self.draft.raws) - 1, "control runs off the end of the code")
            if len(self.nodes) > self.limit:
                raise self.draft.fail(point.raw, "the stack has no fixed depth here, or finally bodies nest too deep")
            node = Node(point, len(self.nodes))
            self.nodes[point] = node
            self.pending.append(node)
        return node

    def visit(self, node: Node) -> None:
        """Determine the operations and successors of a node."""
        machine = Machine(self.draft, self.layouts, node.point, self.marks)
        ROLES[node.point.role](self, machine, node.point)
        node.emitted = machine.emitted
        for index, point in machine.branches:
            op, arg, *_ = node.emitted[index]
            node.emitted[index] = Emitted(op, arg, self.reach(point))
        if machine.next_raw is not None:
            node.following = self.reach(Point(machine.next_raw, machine.layout, machine.blocks))
        node.behind = machine.behind
        if self.goes_beyond and machine.beyond is not None and machine.beyond.raw < len(self.draft.raws):
            node.beyond = self.reach(machine.beyond)
        if node.emitted:
            node.catch = self.catch(machine)

    def protect(self, node: Node) -> None:
        """Give a jump that may be inserted for a node a handler, if that handler also protects something else."""
        self.is_done = True
        machine = Machine(self.draft, self.layouts, node.point)
        ROLES[node.point.role](self, machine, node.point)
        node.catch = self.catch(machine)

    def run(self, machine: Machine, point: Point) -> None:
        """Execute the steps of an instruction."""
        steps = self.draft.steps[point.raw]
        if point.raw in self.draft.elidable:
            steps = steps[:-1]
            machine.next_raw = machine.target
        for step in steps:
            do(machine, step)

    def catch(self, machine: Machine) -> Catch | None:
        """Return where exceptions of a point go."""
        number = self.draft.handler[machine.raw]
        if number >= 0:
            handler = self.draft.handlers[number]
            kept = self.keep(machine, handler.depth)
            if kept is None:
                return None
            caught = self.layouts.push(kept, *[REAL] * (1 + handler.lasti))
            return self.catch_at(Point(handler.target, caught, ()), kept.reals, handler.lasti)
        for index in range(len(machine.catching) - 1, -1, -1):
            block = machine.catching[index]
            if block.kind == "handler":
                return self.catch_in_handler(machine, block, machine.catching[: index + 1])
            if block.kind != "loop":
                kept = self.keep(machine, block.depth)
                if kept is None:
                    return None
                enter = Point(block.target, kept, machine.catching[:index], "enter")
                return self.catch_at(enter, kept.reals, False)
        return None

    def catch_at(self, point: Point, depth: int, lasti: bool) -> Catch | None:
        """Return the handler that begins at a point; none is new after the walk.

        Args:
            point: the first instruction of the handler with the stacks there.
            depth: the number of real values that stay on the stack.
            lasti: whether the offset of the raising instruction is pushed.
        """
        target = self.nodes.get(point) if self.is_done else self.reach(point)
        return Catch(target, depth, lasti) if target is not None else None

    def catch_in_handler(self, machine: Machine, block: Block, blocks: Blocks) -> Catch | None:
        """Return the target of exceptions that are raised while another is handled: out of the handler.

        Args:
            machine: the state after the instruction that may raise.
            block: the entry of the block stack for the exception that is being handled.
            blocks: the block stack outside of the handler.

        Returns:
            the cleanup that restores the previous exception; None if nothing here raises.

        Raises:
            DecompilationError: an operation may raise, and the stack has lost the handler's values.
        """
        depth = block.depth + len(HANDLED)
        if machine.protected.depth >= depth:
            kept = cut(machine.protected, depth)
            if tuple(top_slots(kept, len(HANDLED))) == HANDLED:
                return self.catch_at(Point(block.target, kept, blocks, "cleanup"), kept.reals, True)
        if may_raise(machine):
            raise machine.fail("the stack of a handler has lost the handler's own values")
        return None

    def keep(self, machine: Machine, depth: int) -> Layout | None:
        """Return the slots that a handler keeps; None if the stack lacks them, but nothing here raises.

        Dynamo of torch 2.6 begins a `try` above the arguments of the call in it.
        """
        if depth <= machine.protected.depth:
            return cut(machine.protected, depth)
        if may_raise(machine):
            raise machine.fail(f"the handler keeps {depth} values of a stack of {machine.protected.depth}")
        return None

    def enter(self, machine: Machine, point: Point) -> None:
        """Begin a handler: the interpreter saves the previous exception and pushes the caught one."""
        machine.next_raw = point.raw
        if self.draft.steps[point.raw][:1] == (Step("END_ASYNC_LOOP"),):
            machine.push(REAL)
            machine.operate("END_ASYNC_FOR", None)
            machine.next_raw = point.raw + 1
            return
        machine.emit("PUSH_EXC_INFO")
        machine.enter_block("handler", point.raw, machine.layout.depth)
        machine.push(*HANDLED, *CAUGHT)
        machine.catching, machine.protected = machine.blocks, machine.layout

    def clean_up(self, machine: Machine, point: Point) -> None:
        """Leave a handler by another exception."""
        for op, arg in (("COPY", 3), ("POP_EXCEPT", None), ("RERAISE", 1)):
            machine.emit(op, arg)
        machine.leave_block("handler")
        machine.next_raw = None

    def swallow(self, machine: Machine, point: Point) -> None:
        """Continue after a `with` statement whose `__exit__` swallowed the exception."""
        for op in ("POP", "POP_EXCEPT", "POP"):
            machine.emit(op)
        machine.leave_block("handler")
        machine.replace(1 + len(HANDLED + CAUGHT), [NORMAL])


ROLES: dict[str, Callable[[Walker, Machine, Point], None]] = {
    "": Walker.run,
    "enter": Walker.enter,
    "cleanup": Walker.clean_up,
    "swallow": Walker.swallow,
    "break": lambda walker, machine, point: leave_for_loop(machine, BREAKING),
    "out": lambda walker, machine, point: leave_loop(machine),
}
"""The method of each role."""


def may_raise(machine: Machine) -> bool:
    """Return whether an operation of a point may raise an exception."""
    return any(OPERATIONS[op].raises for op, *_ in machine.emitted)


def do(machine: Machine, step: Step) -> None:
    """Execute one step of an instruction."""
    match step.op:
        case "COPY":
            assert isinstance(step.arg, int)
            machine.copy(step.arg)
        case "SWAP":
            assert isinstance(step.arg, int)
            machine.swap(step.arg)
        case "POP":
            machine.pop()
        case "GHOST":
            machine.add_under(GHOST, step.arg)
        case "LATER_NULL":
            machine.add_under(NULL, 0)
        case op if op in BLOCK_OPERATIONS:
            BLOCK_OPERATIONS[op](machine, step.arg)
        case op if step.jumps:
            machine.jump(op, step.arg)
        case op:
            machine.operate(op, step.arg)
