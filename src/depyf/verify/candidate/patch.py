"""Rewrite instructions of live code in place. The code keeps its length, so its tables stay valid."""

from __future__ import annotations

import types

from depyf.bytecode.operand import RawInstruction
from depyf.bytecode.reader import read
from depyf.bytecode.versions.facts import Facts
from depyf.bytecode.versions.known import facts_of
from depyf.bytecode.wordcode import decode
from depyf.errors import DecompilationError


class NoRoom(DecompilationError):
    """An instruction is shorter than its replacement."""


class Words:
    """The bytes of one code object, for changes instruction by instruction."""

    def __init__(self, code: types.CodeType) -> None:
        view = read(code)
        self.name = str(view)
        self.facts: Facts = facts_of(view.version, str(view))
        self.raws: list[RawInstruction] = decode(view, self.facts)
        self.data = bytearray(code.co_code)
        self.number = {name: number for number, name in self.facts.table.opcodes.items()}

    def encode(self, name: str, arg: int) -> bytes:
        """Return one instruction with its EXTENDED_ARG prefixes, without caches."""
        encoded = bytes((self.number[name], arg & 0xFF))
        while arg > 0xFF:
            arg >>= 8
            encoded = bytes((self.number["EXTENDED_ARG"], arg & 0xFF)) + encoded
        return encoded

    def overwrite(self, raw: RawInstruction, encoded: bytes, *, keep_caches: bool) -> None:
        """Replace one instruction by others, with NOPs in front for the remaining room.

        room.

        Args:
            raw: the instruction.
            encoded: the instructions in its place.
            keep_caches: the new instruction has the same caches as the old one. Raises `NoRoom` if there is not enough
        """
        end = raw.offset + 2 if keep_caches else raw.end
        room = end - raw.start - len(encoded)
        if room < 0:
            raise NoRoom(
                f"{raw.name} {raw.arg} has no room for its replacement", code=self.name, offset=raw.offset
            )
        self.data[raw.start : end] = bytes((self.number["NOP"], 0)) * (room // 2) + encoded

    def rename(self, raw: RawInstruction, name: str, arg: int) -> None:
        """Replace an instruction by one with the same caches.

        Args:
            raw: the instruction.
            name: the name of the new one.
            arg: its argument.
        """
        if (name, arg) != (raw.name, raw.arg):
            self.overwrite(raw, self.encode(name, arg), keep_caches=True)
