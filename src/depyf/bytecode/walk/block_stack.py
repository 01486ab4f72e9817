"""The instructions of 3.7 to 3.10 that use the block stack.

Each function takes the machine and the step; `machine.next_raw` is where control continues (None: nowhere).
"""

from __future__ import annotations

from collections.abc import Callable

from depyf.bytecode.walk.layout import (
    CAUGHT,
    EXCEPTION_TYPE,
    GHOST,
    HANDLED,
    REAL,
    Kind,
    Slot,
    cut,
)
from depyf.bytecode.walk.machine import Machine, count_reals
from depyf.bytecode.walk.node import Point

NORMAL = Slot(Kind.NORMAL)
BREAKING = Slot(Kind.BREAKING)
SIMPLE = (Kind.NORMAL, Kind.CALLED)
WITH_VALUE = (Kind.RETURNING, Kind.CONTINUING)
PENDING = (Kind.NORMAL, Kind.CALLED, Kind.RETURNING, Kind.BREAKING, Kind.CONTINUING)


def setup(kind: str, under: int = 0) -> Callable[[Machine, object], None]:
    """Return the instruction that opens a block; `under` slots on top are not below it."""

    def run(machine: Machine, arg: object) -> None:
        machine.enter_block(kind, machine.target, machine.layout.depth - under)

    return run


def setup_loop(machine: Machine, arg: object) -> None:
    """Open the block of a loop, which ends at the target."""
    machine.behind = machine.target
    machine.enter_block("loop", machine.target, machine.layout.depth)
    if machine.draft.entries[machine.raw]:
        # If a loop begins with another loop, `continue` jumps here, and the inner loop continues at the next
        # instruction.
        machine.branches.append((len(machine.emitted), Point(machine.raw + 1, machine.layout, machine.blocks)))
        machine.emit("JUMP", "loop")
        machine.next_raw = None


def setup_with(machine: Machine, arg: object) -> None:
    """Enter the manager, then protect the body."""
    machine.operate("ENTER_WITH", None)
    machine.enter_block("finally", machine.target, machine.layout.depth - 1)


def pop_block(machine: Machine, unwinds: object) -> None:
    """Close a block."""
    block = machine.leave_block()
    if unwinds:
        machine.drop_to(block.depth)


def pop_except(machine: Machine, unwinds: object) -> None:
    """Leave a handler: the previous exception is being handled again."""
    block = machine.leave_block("handler")
    if unwinds:
        machine.drop_to(block.depth + len(HANDLED))
    if tuple(machine.tops(len(HANDLED))) != HANDLED:
        raise machine.fail("a handler is left with other values on the stack than it began with")
    machine.replace(len(HANDLED), [])
    machine.emit("POP_EXCEPT")


def reraise(machine: Machine, arg: object) -> None:
    """Raise the handled exception again."""
    if tuple(machine.tops(len(CAUGHT))) != CAUGHT:
        raise machine.fail("the re-raised exception is not the caught one")
    machine.emit("RERAISE", 0)
    machine.next_raw = None


def end_async_for(machine: Machine, arg: object) -> None:
    """End the loop on StopAsyncIteration, if the handler does something else before."""
    machine.leave_block("handler")
    if tuple(machine.tops(len(HANDLED + CAUGHT))) != HANDLED + CAUGHT:
        raise machine.fail("an asynchronous loop ends with other values than it began with")
    machine.emit("SWAP", 2)
    machine.emit("POP_EXCEPT")
    machine.replace(len(HANDLED + CAUGHT), [REAL])
    machine.operate("END_ASYNC_FOR", None)


def begin_finally(machine: Machine, arg: object) -> None:
    """Enter a `finally` body the normal way."""
    machine.mark("begin finally")
    machine.push(NORMAL)


def call_finally(machine: Machine, arg: object) -> None:
    """Run a `finally` body, then return here."""
    machine.mark("call finally")
    machine.push(Slot(Kind.CALLED, machine.raw + 1))
    machine.next_raw = machine.target


def pop_finally(machine: Machine, keeps_top: object) -> None:
    """Leave a `finally` body for elsewhere, independent of why it was run."""
    machine.mark("pop finally")
    kept = machine.take() if keeps_top else None
    if machine.layout.top.kind in SIMPLE:
        machine.take()
    elif tuple(machine.tops(len(HANDLED + CAUGHT))) == HANDLED + CAUGHT:
        machine.replace(len(HANDLED + CAUGHT), [])
        machine.leave_block("handler")
        for op in ("POP", "POP_EXCEPT"):
            if kept is not None and kept.is_real:
                machine.emit("SWAP", 2)
            machine.emit(op)
    else:
        raise machine.fail("no finally body is being run here")
    if kept is not None:
        machine.push(kept)


def end_finally(machine: Machine, arg: object) -> None:
    """Resume the control flow for which the `finally` body was run."""
    reason = machine.layout.top
    if reason == EXCEPTION_TYPE:
        reraise(machine, None)
        seem_to_go_on(machine)
        return
    if reason.kind not in PENDING:
        raise machine.fail("no finally body is being run here")
    machine.take()
    match reason.kind:
        case Kind.CALLED:
            machine.next_raw = reason.target
        case Kind.RETURNING:
            return_from(machine, reason.target)
        case Kind.BREAKING:
            leave_for_loop(machine, BREAKING)
        case Kind.CONTINUING:
            machine.take()
            leave_for_loop(machine, reason)
        case _:
            return


def seem_to_go_on(machine: Machine) -> None:
    """Record the apparent fallthrough of a handler's end. For a `with`, the fallthrough is real."""
    if machine.blocks and machine.blocks[-1].kind == "handler":
        if machine.draft.name(machine.raw - 1) != "WITH_CLEANUP_FINISH":
            kept = cut(machine.layout, machine.blocks[-1].depth)
            machine.beyond = Point(machine.raw + 1, kept, machine.blocks[:-1])


def with_cleanup_start(machine: Machine, arg: object) -> None:
    """Call `__exit__` with the exception, or with None three times."""
    reason = machine.layout.top
    if reason == EXCEPTION_TYPE:
        slots = machine.tops(1 + len(HANDLED + CAUGHT))
        machine.emit("WITH_EXCEPT_START", count_reals(slots))
        machine.push(GHOST, REAL)
        return
    if reason.kind not in PENDING:
        raise machine.fail("no with block ends here")
    machine.take()
    pending = [machine.take()] if reason.kind in WITH_VALUE else []
    if machine.take() != REAL:
        raise machine.fail("no with block ends here")
    if count_reals(pending):
        machine.emit("SWAP", 2)
    for _ in range(3):
        machine.emit("CONST", None)
    machine.emit("CALL", (3, "plain"))
    machine.push(*pending, reason, GHOST, REAL)


def with_cleanup_finish(machine: Machine, arg: object) -> None:
    """Test the result of `__exit__`: after an exception, a true result swallows it."""
    if machine.tops(2) != [GHOST, REAL]:
        raise machine.fail("no with block ends here")
    machine.replace(2, [])
    if machine.layout.top == EXCEPTION_TYPE:
        machine.branch("JUMP_IF_TRUE", "swallow")
    else:
        machine.emit("POP")


def return_value(machine: Machine, arg: object) -> None:
    """Leave the function, through the enclosing `finally` bodies (3.7)."""
    return_from(machine, machine.raw)


def return_from(machine: Machine, raw: int) -> None:
    """Leave the function as the instruction `raw` does; every `return` runs its own copies of the `finally` bodies."""
    while machine.blocks:
        block = machine.leave_block()
        if block.kind == "handler":
            machine.drop_under(block.depth + len(HANDLED))
            leave_handler_under_top(machine)
            continue
        machine.drop_under(block.depth)
        if block.kind == "finally":
            machine.push(Slot(Kind.RETURNING, raw))
            machine.next_raw = block.target
            return
    machine.drop_under(0)
    machine.operate("RETURN", None)
    machine.emitted[-1] = machine.emitted[-1]._replace(raw=raw)


def leave_handler_under_top(machine: Machine) -> None:
    """Remove the values of a handler from below the top value."""
    top = machine.take()
    if tuple(machine.tops(len(HANDLED))) != HANDLED:
        raise machine.fail("a handler is left with other values on the stack than it began with")
    machine.replace(len(HANDLED), [top])
    machine.emit("SWAP", 2)
    machine.emit("POP_EXCEPT")


def break_loop(machine: Machine, arg: object) -> None:
    """Leave the innermost loop (3.7), in two steps: code after the first step still has the loop's stack."""
    machine.mark("break")
    machine.beyond = Point(machine.raw + 1, machine.layout, machine.blocks)
    if machine.blocks and machine.blocks[-1].kind == "loop":
        machine.branch("JUMP", "out", "break")
    else:
        machine.branch("JUMP", "break")
    machine.next_raw = None


def continue_loop(machine: Machine, arg: object) -> None:
    """Continue the innermost loop, out of a `try` (3.7)."""
    machine.mark("continue")
    leave_for_loop(machine, Slot(Kind.CONTINUING, machine.target))


def leave_for_loop(machine: Machine, reason: Slot) -> None:
    """Close blocks up to the innermost loop, to break or continue it; run the enclosing `finally` bodies.

    The final jump is marked as a statement of the source.
    """
    while machine.blocks:
        if machine.blocks[-1].kind == "loop":
            if reason.kind == Kind.CONTINUING:
                machine.branches.append((len(machine.emitted), Point(reason.target, machine.layout, machine.blocks)))
                machine.emit("JUMP", "continue")
            else:
                machine.branch("JUMP", "out", "break")
            machine.next_raw = None
            return
        block = machine.leave_block()
        if block.kind == "handler":
            machine.drop_to(block.depth + len(HANDLED))
            machine.replace(len(HANDLED), [])
            machine.emit("POP_EXCEPT")
            continue
        machine.drop_to(block.depth)
        if block.kind == "except":
            continue
        machine.push(*([GHOST] if reason.kind == Kind.CONTINUING else []), reason)
        machine.next_raw = block.target
        return
    raise machine.fail("no loop is open here")


def leave_loop(machine: Machine) -> None:
    """Close the block of a loop, and continue after it."""
    block = machine.leave_block("loop")
    machine.drop_to(block.depth)
    machine.next_raw = block.target


BLOCK_OPERATIONS: dict[str, Callable[[Machine, object], None]] = {
    "SETUP_LOOP": setup_loop,
    "SETUP_EXCEPT": setup("except"),
    "SETUP_FINALLY": setup("finally"),
    "SETUP_ASYNC_WITH": setup("finally", under=1),
    "SETUP_WITH": setup_with,
    "POP_BLOCK": pop_block,
    "LEAVE_HANDLER": pop_except,
    "RAISE_CAUGHT": reraise,
    "END_ASYNC_LOOP": end_async_for,
    "BEGIN_FINALLY": begin_finally,
    "CALL_FINALLY": call_finally,
    "POP_FINALLY": pop_finally,
    "END_FINALLY": end_finally,
    "WITH_CLEANUP_START": with_cleanup_start,
    "WITH_CLEANUP_FINISH": with_cleanup_finish,
    "RETURN_THROUGH": return_value,
    "BREAK_LOOP": break_loop,
    "CONTINUE_LOOP": continue_loop,
}
"""Pseudo operations of the version tables of 3.7 to 3.10; a listing contains none of them."""
