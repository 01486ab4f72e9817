"""Code objects from `.pyc` files of CPython 3.7 to 3.15, read without executing anything."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

from depyf.bytecode.code import Code
from depyf.bytecode.nesting import inner_prefix, nest
from depyf.bytecode.unmarshal import MarshalledCode, Unmarshaller
from depyf.bytecode.versions.facts import Facts
from depyf.bytecode.versions.known import FACTS
from depyf.errors import DecompilationError

HEADER_SIZE = 16
MAGIC_END = b"\r\n"
PYPY_MAGICS = range(48, 1000)
OPTIMISED = re.compile(r"\.opt-[12]\.pyc$")
LOCAL, CELL, FREE = 0x20, 0x40, 0x80

Wanted = TypeVar("Wanted")


def load(data: bytes, *, source: str = "<pyc>") -> Code:
    """Return the code object of a `.pyc` file's contents.

    Args:
        source: the location in error messages, such as the file's path. A name that ends like `.opt-1.pyc` means `-O`
            or `-OO`, because Python names its files that way.

    Raises:
        DecompilationError: the file is damaged, or that of another interpreter.
    """
    facts = facts_by_magic(data, source)
    if len(data) < HEADER_SIZE:
        raise DecompilationError(f"the header ends after {len(data)} of {HEADER_SIZE} bytes", code=source)
    flags = int.from_bytes(data[4:8], "little")
    if flags & ~3:
        raise DecompilationError(f"unknown flags {flags:#x} in the header", code=source)
    return load_marshal(data, facts, source=source, position=HEADER_SIZE)


def load_marshal(data: bytes, facts: Facts, *, source: str, position: int) -> Code:
    """Return the code object in marshal data of a known version.

    Args:
        data: bytes with the marshal data.
        facts: the facts of the version that wrote it.
        source: the location in error messages, as for `load`.
        position: where the marshal data begins.

    Raises:
        DecompilationError: the data is damaged, or holds something else.
    """
    value = Unmarshaller(data, facts.fields, source, position).load()
    if not isinstance(value, MarshalledCode):
        raise DecompilationError(f"the file contains {type(value).__name__} instead of a code object", code=source)
    return neutral(value, facts, source)


def neutral(value: MarshalledCode, facts: Facts, source: str) -> Code:
    """Return the code object with these fields, and with its nested ones. Raises DecompilationError for wrong fields.

    Args:
        value: the fields.
        facts: the facts of the version that wrote them.
        source: the location in error messages, as for `load`.
    """
    optimised = OPTIMISED.search(source) is not None

    def build(code: MarshalledCode, qualname: str, done: Mapping[int, Code]) -> Code:
        """Return the `Code` of one code object.

        Args:
            code: the marshalled fields.
            qualname: the qualified name, for versions that do not store it.
            done: the finished nested code objects, by the identity of their fields.
        """
        return Fields(code, source).code(facts, qualname, done, optimised)

    def children(code: MarshalledCode, qualname: str) -> list[tuple[MarshalledCode, str]]:
        fields = Fields(code, source)
        prefix = inner_prefix(qualname, fields.get("name", str), fields.get("flags", int))
        inner = [const for const in fields.get("consts", tuple) if isinstance(const, MarshalledCode)]
        return [(const, prefix + Fields(const, source).get("name", str)) for const in inner]

    return nest(value, Fields(value, source).get("name", str), children, build)


def facts_by_magic(data: bytes, source: str) -> Facts:
    """Return the facts of the version that wrote a file. Raises `DecompilationError` for unknown versions."""
    if len(data) < 4 or data[2:4] != MAGIC_END:
        raise DecompilationError("this is no .pyc file: the magic number is missing", code=source)
    magic = magic_of(data)
    for facts in FACTS.values():
        if facts.table.magic == magic:
            return facts
    known = sorted(FACTS)
    if magic in PYPY_MAGICS:
        what = "a file of PyPy"
    else:
        what = "a file of another interpreter, an unreleased one perhaps"
    first, last = (".".join(map(str, version)) for version in (known[0], known[-1]))
    raise DecompilationError(f"{what} (magic number {magic}); CPython {first} to {last} can be read", code=source)


def magic_of(data: bytes) -> int:
    """Return the magic number in the first two bytes of a file."""
    return int.from_bytes(data[:2], "little")


class Fields:
    """The fields of a marshalled code object, checked on access."""

    def __init__(self, code: MarshalledCode, source: str) -> None:
        self.fields = code.fields
        self.source = source

    def get(self, name: str, wanted: type[Wanted]) -> Wanted:
        """Return a field. Raises if it has another type."""
        value = self.fields[name]
        if not isinstance(value, wanted):
            raise DecompilationError(
                f"a code object's {name} is {type(value).__name__}, not {wanted.__name__}", code=self.source
            )
        return value

    def names(self, name: str) -> tuple[str, ...]:
        """Return a field that is a tuple of strings."""
        values = self.get(name, tuple)
        if not all(isinstance(value, str) for value in values):
            raise DecompilationError(f"a code object's {name} are not all strings", code=self.source)
        return values

    def code(self, facts: Facts, qualname: str, done: Mapping[int, Code], optimised: bool) -> Code:
        """Return the code object with these fields.

        Args:
            facts: the facts of the version that wrote them.
            qualname: the qualified name, for versions that do not store it.
            done: the finished nested code objects, by the identity of their fields.
            optimised: whether the file's name says that it was compiled with `-O` or `-OO`.

        Raises:
            DecompilationError: a field is missing or has the wrong type.
        """
        varnames, cellvars, freevars = self.variables() if facts.shared_slots else map(self.names, VARIABLES)
        consts = self.get("consts", tuple)
        return Code(
            version=facts.table.version,
            name=self.get("name", str),
            qualname=self.get("qualname", str) if "qualname" in self.fields else qualname,
            filename=self.get("filename", str),
            first_line=self.get("first_line", int),
            argcount=self.count("argcount", varnames),
            posonly_count=self.get("posonly_count", int) if "posonly_count" in self.fields else 0,
            kwonly_count=self.count("kwonly_count", varnames),
            flags=self.get("flags", int),
            varnames=varnames,
            names=self.names("names"),
            cellvars=cellvars,
            freevars=freevars,
            consts=tuple(done[id(const)] if isinstance(const, MarshalledCode) else const for const in consts),
            bytecode=self.get("bytecode", bytes),
            line_table=self.get("line_table", bytes),
            exception_table=self.get("exception_table", bytes) if "exception_table" in self.fields else b"",
            stacksize=self.get("stacksize", int),
            optimised=optimised,
        )

    def count(self, name: str, varnames: tuple[str, ...]) -> int:
        """Return a number of parameters. Raises if there are fewer variables."""
        value = self.get(name, int)
        if not 0 <= value <= len(varnames):
            raise DecompilationError(f"a code object's {name} is {value}, of {len(varnames)} names", code=self.source)
        return value

    def variables(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Return local, cell, and free variables from their common list in 3.11 and newer."""
        names, kinds = self.names("variables"), self.get("kinds", bytes)
        if len(names) != len(kinds):
            raise DecompilationError(
                f"a code object has {len(names)} variables and kinds of {len(kinds)}", code=self.source
            )
        varnames, cellvars, freevars = (
            tuple(name for name, kind in zip(names, kinds, strict=True) if kind & bit) for bit in (LOCAL, CELL, FREE)
        )
        cells = tuple(name for name, kind in zip(names, kinds, strict=True) if kind & CELL and not kind & LOCAL)
        if varnames + cells + freevars != names:
            raise DecompilationError("a code object's variables have an unknown order", code=self.source)
        return varnames, cellvars, freevars


VARIABLES = ("varnames", "cellvars", "freevars")
