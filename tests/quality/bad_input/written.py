"""`.pyc` files put together by hand: marshal data and instructions of a version that need not be the running one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from depyf.bytecode.versions.facts import Facts
from depyf.bytecode.versions.known import FACTS

LOCAL = b"\x20"
ABSOLUTE = "JUMP_ABSOLUTE"
WIDE = 3
"""Bytes of each jump's argument, so that a jump is as long wherever it leads."""

VERSIONS = ((3, 8), (3, 10), (3, 11), (3, 13), (3, 14))


@dataclass(frozen=True, slots=True)
class Raw:
    """Marshal data of an object, as it stands in the file."""

    data: bytes


def raw(value: object) -> Raw:
    """Return an object's marshal data."""
    return value if isinstance(value, Raw) else Raw(marshalled(value))


def marshalled(value: object) -> bytes:
    """Return marshal data without references. Raises TypeError for what no test of this folder needs."""
    match value:
        case Raw(data=data):
            return data
        case None:
            return b"N"
        case bool():
            return b"T" if value else b"F"
        case int() if -(1 << 31) <= value < 1 << 31:
            return b"i" + four(value)
        case int():
            return big_number(value)
        case float():
            text = repr(value).encode()
            return b"f" + bytes([len(text)]) + text
        case str():
            text = value.encode("utf-8", "surrogatepass")
            return b"u" + four(len(text)) + text
        case bytes():
            return b"s" + four(len(value)) + value
        case tuple():
            return b"(" + four(len(value)) + b"".join(map(marshalled, value))
        case frozenset():
            return b">" + four(len(value)) + b"".join(map(marshalled, value))
    raise TypeError(f"{type(value).__name__} has no marshal data here")


def four(value: int) -> bytes:
    """Return a number as four bytes."""
    return value.to_bytes(4, "little", signed=True)


def big_number(value: int) -> bytes:
    """Return marshal data of an integer of any size: digits of 15 bits, low ones first."""
    digits = bytearray()
    rest = abs(value)
    while rest:
        digits += (rest & 0x7FFF).to_bytes(2, "little")
        rest >>= 15
    count = len(digits) // 2
    return b"l" + four(-count if value < 0 else count) + bytes(digits)


@dataclass(slots=True)
class Written:
    """The fields of a code object; what is not said is that of an empty module."""

    bytecode: bytes
    consts: Raw | tuple[object, ...] = (None,)
    names: Raw | tuple[str, ...] = ("a",)
    varnames: tuple[str, ...] = ()
    argcount: int = 0
    flags: int = 0
    line_table: bytes = b""
    exception_table: bytes = b""
    name: str = "<module>"
    stacksize: int = 100

    def code(self, facts: Facts) -> Raw:
        """Return the marshal data of the code object."""
        values: Mapping[str, object] = {
            "argcount": self.argcount,
            "nlocals": len(self.varnames),
            "stacksize": self.stacksize,
            "flags": self.flags,
            "bytecode": self.bytecode,
            "consts": raw(self.consts),
            "names": raw(self.names),
            "varnames": self.varnames,
            "variables": self.varnames,
            "kinds": LOCAL * len(self.varnames),
            "cellvars": (),
            "freevars": (),
            "filename": "hostile.py",
            "name": self.name,
            "qualname": self.name,
            "first_line": 1,
            "line_table": self.line_table,
            "exception_table": self.exception_table,
        }
        fields = []
        for name, is_number in facts.fields:
            value = values.get(name, 0)
            fields.append(four(int(str(value))) if is_number else marshalled(value))
        return Raw(b"c" + b"".join(fields))

    def file(self, facts: Facts) -> bytes:
        """Return the whole file."""
        return facts.table.magic.to_bytes(2, "little") + b"\r\n" + bytes(12) + self.code(facts).data


@dataclass(slots=True)
class Assembler:
    """Instructions of a version. Jumps lead to labels, which `put` gives to the next instruction."""

    facts: Facts
    data: bytearray = field(default_factory=bytearray)
    labels: dict[object, int] = field(default_factory=dict)
    jumps: list[tuple[int, str, object]] = field(default_factory=list)
    numbers: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self.numbers = {name: number for number, name in self.facts.table.opcodes.items()}
        if "RESUME" in self.numbers:
            self.op("RESUME")

    def __len__(self) -> int:
        return len(self.data)

    def op(self, name: str, argument: int = 0, *, wide: int = 1) -> None:
        """Append an instruction, with prefixes as its argument needs."""
        width = max(wide, (argument.bit_length() + 7) // 8)
        for place in range(width - 1, 0, -1):
            self.data += bytes([self.numbers["EXTENDED_ARG"], argument >> 8 * place & 0xFF])
        self.data += bytes([self.numbers[name], argument & 0xFF])
        self.data += bytes(2 * self.facts.table.caches.get(name, 0))

    def first(self, *names: str) -> str:
        """Return the first of some instructions that this version has."""
        return next(name for name in names if name in self.numbers)

    def load(self, number: int = 0) -> None:
        """Load a name."""
        self.op("LOAD_NAME", number)

    def const(self, number: int = 0) -> None:
        """Load a constant."""
        self.op("LOAD_CONST", number)

    def store(self, number: int = 0) -> None:
        """Store what is on top in a name."""
        self.op("STORE_NAME", number)

    def pop(self) -> None:
        """Drop what is on top."""
        self.op("POP_TOP")

    def add(self) -> None:
        """Join the two values on top."""
        self.op(self.first("BINARY_OP", "BINARY_ADD"))

    def double(self) -> None:
        """Put the value on top there once more."""
        self.op(*(("DUP_TOP",) if "DUP_TOP" in self.numbers else ("COPY", 1)))

    def label(self, name: object) -> None:
        """Give a name to where the next instruction stands."""
        self.labels[name] = len(self.data)

    def branch(self, target: object, *, when: bool = False) -> None:
        """Take the value on top, and jump forward where it is true, or false."""
        word = "TRUE" if when else "FALSE"
        self.jump_by(self.first(f"POP_JUMP_IF_{word}", f"POP_JUMP_FORWARD_IF_{word}"), target)

    def jump(self, target: object) -> None:
        """Jump, to a place that may come first or later."""
        back = target in self.labels
        self.jump_by(self.first("JUMP_BACKWARD", ABSOLUTE) if back else "JUMP_FORWARD", target)

    def jump_by(self, name: str, target: object) -> None:
        """Append a jump of this opcode name."""
        self.op(name, wide=WIDE)
        self.jumps.append((len(self.data), name, target))

    def end(self) -> bytes:
        """Return the bytes, with a `return None` at their end and all jumps led to their labels."""
        self.label("end")
        self.const()
        self.op("RETURN_VALUE")
        for behind, name, target in self.jumps:
            goal = self.labels[target]
            relative = name in self.facts.table.jump_relative
            argument = (abs(goal - behind) if relative else goal) // self.facts.jump_unit
            at = behind - 2 * self.facts.table.caches.get(name, 0) - 1
            for place in range(WIDE):
                self.data[at - 2 * place] = argument >> 8 * place & 0xFF
        return bytes(self.data)


def facts_for(version: tuple[int, int]) -> Facts:
    """Return the facts of a version."""
    return FACTS[version]


def joined(parts: Iterable[bytes] | Sequence[bytes], kind: bytes = b"(") -> Raw:
    """Return the marshal data of a tuple whose members are already marshalled."""
    members = list(parts)
    return Raw(kind + four(len(members)) + b"".join(members))
