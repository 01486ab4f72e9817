"""The format of a generated opcode table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from depyf.bytecode.records import dataclass


@dataclass(frozen=True, slots=True)
class OpcodeTable:
    """Opcodes of one CPython feature version, as that interpreter defines them.

    magic: first half of a `.pyc` file's magic number, of the released version.
    opcodes: opcode number to name; no specialised, instrumented or pseudo instructions.
    const, name, local, free, jump_relative, jump_absolute: opcode names by the meaning of their argument.
    caches: number of 2-byte cache entries after an instruction, if there are any.
    compare: comparison operators by index.
    binary: `BINARY_OP` operators by index ('+' ... '+=' ... '[]').
    intrinsics_1, intrinsics_2: names by index of `CALL_INTRINSIC_1`, `CALL_INTRINSIC_2`.
    specials: special methods by index of `LOAD_SPECIAL`.
    commons: for `LOAD_COMMON_CONSTANT`, by index: the name of a builtin in a `str`, or a literal constant in a 1-tuple.
    """

    version: tuple[int, int]
    magic: int
    opcodes: Mapping[int, str] = field(repr=False)
    const: frozenset[str]
    name: frozenset[str]
    local: frozenset[str]
    free: frozenset[str]
    jump_relative: frozenset[str]
    jump_absolute: frozenset[str]
    caches: Mapping[str, int]
    compare: tuple[str, ...]
    binary: tuple[str, ...]
    intrinsics_1: tuple[str, ...]
    intrinsics_2: tuple[str, ...]
    specials: tuple[str, ...]
    commons: tuple[str | tuple[object], ...]
