"""A row of the catalogue."""

from __future__ import annotations

from enum import Enum

from depyf.bytecode.records import dataclass


class Place(Enum):
    """The place of a value that is no tensor. The value is the word in the names of kinds."""

    ARGUMENT = "argument"
    ELEMENT = "element"
    MODULE = "module"
    OBJECT = "object"
    GLOBAL = "global"
    CLOSURE = "closure"


class Change(Enum):
    """The change of a value that is no tensor. The value is the word in the names of kinds."""

    INT = "int"
    FLOAT = "float"
    STRING = "string"
    BOOL = "bool"
    NONE = "none"
    TYPE = "type"
    LENGTH = "length"
    CONSTANT = "constant"
    FUNCTION = "function"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of finding: what happened, and how to fix it.

    `cause`, `note` and `fix` are templates. `{subject}` is the value as the user would write it, `{value}` is the same
    with the place where the program keeps it, and `{named}` stands for `{value}` after a noun. `{change}` says what the
    value was and what the entry expected, and `{device_change}` says it of a device. `{expected}` and `{actual}` are
    the two values by themselves, and `{dimension}` is the first dimension that differs.

    `note` is about recompiles that go on, and follows the cause after a semicolon. `fix` is empty if nothing needs to
    be done, for example if both states are expected. For a value that is no tensor, `place` is where the program keeps
    it, `place_words` says so, and `change` is what changed. `is_carried` is true for a value without a name, which a
    graph break leaves on the stack.
    """

    name: str
    cause: str
    fix: str
    is_expected: bool = False
    place: Place | None = None
    change: Change | None = None
    note: str = ""
    place_words: str = ""
    is_carried: bool = False
