"""Read marshal data of CPython 3.7 to 3.15 without the interpreter's own loader.

Hostile data cannot do harm. Nothing is executed, sizes are checked against the remaining data, and nesting and the
unfolding of shared objects are limited.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable
from dataclasses import field

from depyf.bytecode.records import dataclass
from depyf.errors import DecompilationError

MAX_NESTING = 2000
"""Levels of nested objects, the limit of CPython's own loader."""
MAX_ALIKE = 100
"""The most members of a set, or keys, with the same hash: each is compared with all before it."""
MAX_UNFOLDED = 1 << 16
"""The most objects that one object may contain beyond the stored ones, counting shared objects at each use."""
SHARED = 0x80
DIGIT_BITS = 15
DIGITS_AT_ONCE = 8

CodeFields = tuple[tuple[str, bool], ...]
"""Names of a code object's fields in order, and whether each is a plain number."""


@dataclass(slots=True, eq=False)
class MarshalledCode:
    """The fields of a code object by name, unchecked."""

    fields: dict[str, object]


@dataclass(slots=True)
class Frame:
    """A container that is being read.

    left: the number of missing members; -1: all up to a null.
    finish: makes the object from the members.
    reference: its number for later references, or -1.
    start: the position of its first byte.
    """

    left: int
    finish: Callable[[list[object]], object]
    reference: int
    start: int
    members: list[object] = field(default_factory=list)
    weight: int = 1
    fields: CodeFields = ()


class Null:
    """The end of a dictionary."""


NULL = Null()
PENDING = object()
SINGLETONS: dict[int, object] = {
    ord("0"): NULL,
    ord("N"): None,
    ord("F"): False,
    ord("T"): True,
    ord("."): Ellipsis,
    ord("S"): StopIteration,
}


class Unmarshaller:
    """Reads one object from marshal data.

    codes: the code objects that were read to their end, with the positions of their first byte and behind their last.
    """

    def __init__(self, data: bytes, fields: CodeFields, source: str, position: int = 0) -> None:
        self.data = data
        self.fields = fields
        self.source = source
        self.position = position
        self.references: list[object] = []
        self.weights: list[int] = []
        self.frames: list[Frame] = []
        self.codes: list[tuple[int, int, MarshalledCode]] = []

    def fail(self, reason: str) -> DecompilationError:
        """Return the error for the current position."""
        return DecompilationError(f"bad marshal data at byte {self.position}: {reason}", code=self.source)

    def take(self, size: int) -> bytes:
        """Read some bytes."""
        if size < 0 or size > len(self.data) - self.position:
            raise self.fail(f"{size} bytes are announced, {len(self.data) - self.position} are left")
        start = self.position
        self.position += size
        return self.data[start : self.position]

    def number(self) -> int:
        """Read a signed number of four bytes."""
        return int.from_bytes(self.take(4), "little", signed=True)

    def load(self) -> object:
        """Return the object. Raises `DecompilationError` on damaged data, or data built to be too large."""
        while True:
            value, weight = self.begin()
            while value is not PENDING:
                if not self.frames:
                    if value is NULL:
                        raise self.fail("a null is not an object")
                    return value
                value, weight = self.add(value, weight)

    def add(self, value: object, weight: int) -> tuple[object, int]:
        """Add an object to the current container; return the container if that completes it."""
        frame = self.frames[-1]
        if value is NULL and frame.left >= 0:
            raise self.fail("a null is not an object")
        frame.weight += weight
        if frame.weight > MAX_UNFOLDED + len(self.data):
            raise self.fail(f"an object unfolds to more than {frame.weight - 1} objects")
        if value is not NULL:
            frame.members.append(value)
            frame.left -= frame.left > 0
        if frame.fields:
            self.plain_fields(frame)
        is_complete = value is NULL if frame.left < 0 else not frame.left
        return self.complete() if is_complete else (PENDING, 0)

    def complete(self) -> tuple[object, int]:
        """Finish the innermost container."""
        frame = self.frames.pop()
        try:
            value = frame.finish(frame.members)
        except (TypeError, ValueError) as error:
            raise self.fail(str(error)) from error
        if isinstance(value, MarshalledCode):
            self.codes.append((frame.start, self.position, value))
        if frame.reference >= 0:
            self.references[frame.reference] = value
            self.weights[frame.reference] = frame.weight
        return value, frame.weight

    def begin(self) -> tuple[object, int]:
        """Read an object without members, or the head of a container (then it is PENDING)."""
        code = self.take(1)[0]
        kind = chr(code & ~SHARED)
        if kind == "r":
            return self.refer()
        reference = -1
        if code & SHARED:
            reference = len(self.references)
            self.references.append(PENDING)
            self.weights.append(1)
        if kind in CONTAINERS:
            return self.open(kind, reference)
        value = self.scalar(kind)
        if reference >= 0:
            self.references[reference] = value
        return value, 1

    def refer(self) -> tuple[object, int]:
        """Read a reference to an earlier object."""
        index = self.number()
        if not 0 <= index < len(self.references) or self.references[index] is PENDING:
            raise self.fail(f"there is no object with number {index}")
        return self.references[index], self.weights[index]

    def open(self, kind: str, reference: int) -> tuple[object, int]:
        """Begin to read a container."""
        if len(self.frames) >= MAX_NESTING:
            raise self.fail(f"objects nest more than {MAX_NESTING} deep")
        frame = Frame(0, CONTAINERS[kind], reference, self.position - 1)
        self.frames.append(frame)
        if kind == "c":
            frame.fields = self.fields
            frame.finish = self.make_code
            frame.left = sum(not is_number for _, is_number in self.fields)
            self.plain_fields(frame)
            return PENDING, 0
        if kind == ")":
            frame.left = self.take(1)[0]
        elif kind == ":":
            frame.left = 3
        elif kind == "{":
            frame.left = -1
        else:
            frame.left = self.number()
            if not 0 <= frame.left <= len(self.data) - self.position:
                raise self.fail(f"{frame.left} members are announced, {len(self.data) - self.position} bytes are left")
        return self.complete() if not frame.left else (PENDING, 0)

    def plain_fields(self, frame: Frame) -> None:
        """Read the next plain numbers of a code object."""
        while len(frame.members) < len(frame.fields) and frame.fields[len(frame.members)][1]:
            frame.members.append(self.number())

    def make_code(self, members: list[object]) -> MarshalledCode:
        """Make a code object from its fields."""
        names = [name for name, _ in self.fields]
        return MarshalledCode(dict(zip(names, members, strict=True)))

    def scalar(self, kind: str) -> object:
        """Read an object without members."""
        if ord(kind) in SINGLETONS:
            return SINGLETONS[ord(kind)]
        match kind:
            case "i":
                return self.number()
            case "I":
                return int.from_bytes(self.take(8), "little", signed=True)
            case "l":
                return self.long()
            case "g":
                return float(struct.unpack("<d", self.take(8))[0])
            case "y":
                real, imaginary = struct.unpack("<dd", self.take(16))
                return complex(real, imaginary)
            case "f":
                return self.float_text()
            case "x":
                return complex(self.float_text(), self.float_text())
            case "s":
                return self.take(self.number())
            case "t" | "u":
                return self.text(self.take(self.number()), "utf-8")
            case "a" | "A":
                return self.text(self.take(self.number()), "latin-1")
            case "z" | "Z":
                return self.text(self.take(self.take(1)[0]), "latin-1")
        raise self.fail(f"unknown type {kind!r}")

    def text(self, data: bytes, encoding: str) -> str:
        """Decode a string; lone surrogates are kept."""
        try:
            return data.decode(encoding, "surrogatepass")
        except UnicodeDecodeError as error:
            raise self.fail(str(error)) from error

    def float_text(self) -> float:
        """Read a number written as text."""
        text = self.take(self.take(1)[0])
        try:
            return float(text)
        except ValueError as error:
            raise self.fail(str(error)) from error

    def long(self) -> int:
        """Read an integer of any size: digits of 15 bits, low ones first."""
        count = self.number()
        digits = struct.unpack(f"<{abs(count)}H", self.take(2 * abs(count)))
        if any(digit >> DIGIT_BITS for digit in digits) or (digits and not digits[-1]):
            raise self.fail("an integer has a wrong digit")
        packed = bytearray()
        for start in range(0, len(digits), DIGITS_AT_ONCE):
            group = digits[start : start + DIGITS_AT_ONCE]
            value = sum(digit << DIGIT_BITS * place for place, digit in enumerate(group))
            packed += value.to_bytes(DIGIT_BITS * DIGITS_AT_ONCE // 8, "little")
        value = int.from_bytes(packed, "little")
        return -value if count < 0 else value


def hashed(members: list[object]) -> list[object]:
    """Return the members of a table. Raises ValueError if hashing them would take quadratic time."""
    if len(members) > MAX_ALIKE:
        _, count = Counter(map(hash, members)).most_common(1)[0]
        if count > MAX_ALIKE:
            raise ValueError(f"{count} of {len(members)} members of a set have one hash")
    return members


def pairs(members: list[object]) -> dict[object, object]:
    """Make a dictionary from alternating keys and values."""
    return dict(zip(hashed(members[::2]), members[1::2], strict=True))


CONTAINERS: dict[str, Callable[[list[object]], object]] = {
    "(": tuple,
    ")": tuple,
    "[": list,
    "<": lambda members: set(hashed(members)),
    ">": lambda members: frozenset(hashed(members)),
    "{": pairs,
    ":": lambda members: slice(*members),
    "c": tuple,
}
