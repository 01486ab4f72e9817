"""Opcodes that no compiler writes, or that no module holds: code that is put together by hand."""

from __future__ import annotations

from dataclasses import dataclass

from depyf.bytecode.code import CO_NEWLOCALS, CO_OPTIMIZED, Code, Version
from depyf.bytecode.versions.known import FACTS

Written = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Assembled:
    """Instructions that show one opcode.

    made: the operations that it becomes.
    source: what the code decompiles to.
    """

    instructions: tuple[Written, ...]
    made: str
    source: str


ASSEMBLED: dict[str, Assembled] = {
    "NOP": Assembled(
        (("NOP", 0), ("LOAD_CONST", 0), ("NOP", 0), ("RETURN_VALUE", 0)), "", "def f(a):\n    return 7\n"
    ),
    "PRINT_EXPR": Assembled(
        (("LOAD_FAST", 0), ("PRINT_EXPR", 0), ("LOAD_CONST", 0), ("RETURN_VALUE", 0)),
        "INTRINSIC",
        "def f(a):\n    __import__('sys').displayhook(a)\n    return 7\n",
    ),
}
"""By opcode."""


def assemble(version: Version, one: Assembled) -> Code:
    """Return a function of these instructions, with parameter `a` and constant 7; caches are put in."""
    table = FACTS[version].table
    numbers = {name: number for number, name in table.opcodes.items()}
    data = bytearray()
    for name, argument in one.instructions:
        data += bytes([numbers[name], argument]) + bytes(2 * table.caches.get(name, 0))
    return Code(
        version=version,
        name="f",
        qualname="f",
        filename="assembled",
        first_line=1,
        argcount=1,
        posonly_count=0,
        kwonly_count=0,
        flags=CO_OPTIMIZED | CO_NEWLOCALS,
        varnames=("a",),
        names=(),
        cellvars=(),
        freevars=(),
        consts=(7,),
        bytecode=bytes(data),
        line_table=b"",
        exception_table=b"",
        stacksize=2,
    )


