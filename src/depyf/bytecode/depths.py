"""The depth of the stack before each instruction of a listing."""

from __future__ import annotations

from depyf.bytecode.listing import Listing
from depyf.bytecode.operations import ALWAYS, OPERATIONS, STRAIGHT
from depyf.errors import DecompilationError


def stack_depths(listing: Listing) -> list[int]:
    """Return the number of values on the stack before each instruction, -1 for unreachable ones.

    Raises `DecompilationError` if an operation pops from an empty stack, if paths merge with different depths, or if a
    handler keeps more values than there are.
    """
    instructions, handlers = listing.instructions, listing.handlers
    depths = [-1] * len(instructions)
    stack = [(0, 0)]
    always, straight = ALWAYS, STRAIGHT
    while stack:
        index, depth = stack.pop()
        present = -1
        while depths[index] < 0:
            depths[index] = depth
            instruction = instructions[index]
            op = instruction.op
            pops, pushes = always.get(op) or OPERATIONS[op].effect(instruction.arg)
            if pops > depth:
                raise fail(listing, index, f"{op} takes {pops} values from a stack of {depth}")
            number = instruction.handler
            if number >= 0:
                handler = handlers[number]
                if handler.depth > depth:
                    raise fail(listing, index, f"the handler keeps {handler.depth} values of a stack of {depth}")
                if number != present:
                    present = number
                    stack.append((handler.target, handler.depth + handler.lasti + 1))
            if op in straight:
                index += 1
                depth += pushes - pops
                continue
            operation = OPERATIONS[op]
            if operation.jump_effect is not None:
                pops_there, pushes_there = operation.jump_effect(instruction.arg)
                stack.append((instruction.target, depth - pops_there + pushes_there))
            if index in listing.beyond:
                stack.append(listing.beyond[index])
            if not operation.falls:
                break
            index, depth = index + 1, depth - pops + pushes
        else:
            if depths[index] != depth:
                raise fail(listing, index, f"the stack has {depths[index]} or {depth} values here")
    return depths


def fail(listing: Listing, index: int, reason: str) -> DecompilationError:
    """Return the error for one instruction.

    Args:
        listing: the listing with the faulty instruction.
        index: the instruction's position in `listing.instructions`.
        reason: the message, without the name of the code object and the offset.
    """
    return DecompilationError(reason, code=str(listing.code), offset=listing.instructions[index].offset)
