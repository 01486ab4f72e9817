"""Opcodes that no compiler writes, or that no module holds: code that is put together by hand."""

from __future__ import annotations

from dataclasses import dataclass

from corpus.opcodes.assembler import assemble as assembled
from depyf.bytecode.code import Code, Version

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


def assemble(version: Version, program: Assembled) -> Code:
    """Return a function of these instructions, with parameter `a` and constant 7."""
    return assembled(version, *program.instructions, consts=(7,), free=())
