"""Normalised instructions as text.

line offset
  :2      4  LOAD_FAST 'a'
          6  JUMP_IF_FALSE to 12                 try 1
"""

from __future__ import annotations

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Instruction, Listing
from depyf.bytecode.ordered_text import ordered_text


def rows(listing: Listing) -> list[str]:
    """Return one line per instruction: line, offset, operation, argument, and the handler that protects it."""
    return [row(listing, instruction) for instruction in listing.instructions]


def text(listing: Listing) -> str:
    """Return the instructions of a listing and the entries of its handlers."""
    lines = [f"{'line':>6} {'offset':>6}", *rows(listing)]
    return "".join(f"{line}\n" for line in [*lines, *handler_lines(listing)])


def handler_lines(listing: Listing) -> list[str]:
    """Return one line per handler: its entry, and the depth of the stack there."""
    lines = []
    for number, handler in enumerate(listing.handlers):
        begin = offset(listing, handler.target)
        lasti = ", offset saved" if handler.lasti else ""
        lines.append(f"handler {number}: goes to {begin} with {handler.depth} values left{lasti}")
    return lines


def row(listing: Listing, instruction: Instruction) -> str:
    """Return the line of an instruction."""
    line = "" if instruction.line is None else f":{instruction.line}"
    operation = f"{instruction.op} {argument(listing, instruction)}".rstrip()
    protected = f"  [handler {instruction.handler}]" if instruction.handler >= 0 else ""
    return f"{line:>6} {instruction.offset:6}  {operation}{protected}"


def argument(listing: Listing, instruction: Instruction) -> str:
    """Return the argument of an instruction, or its jump target."""
    if instruction.target >= 0:
        return f"to {offset(listing, instruction.target)}"
    if instruction.arg is None and instruction.op != "CONST":
        return ""
    return value(instruction.arg)


def offset(listing: Listing, index: int) -> str:
    """Return the offset of the instruction with an index."""
    return str(listing.instructions[index].offset) if index < len(listing.instructions) else "the end"


def value(arg: object) -> str:
    """Return an argument in one line."""
    shown = f"<code {arg.qualname}>" if isinstance(arg, Code) else ordered_text(arg)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 3]}..."


LONGEST = 100
"""The most characters of an argument to show."""
