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

    `cause` and `fix` are templates. `{subject}` is the value as the user would write it. `{expected}` is the value that
    the entry expects, `{actual}` the value of the call, and `{dimension}` the first dimension that differs. `fix` is
    empty if nothing needs to be done, for example if both states are expected. For a value that is no tensor, `place`
    is where the program keeps it, and `change` what changed.
    """

    name: str
    cause: str
    fix: str
    is_expected: bool = False
    place: Place | None = None
    change: Change | None = None
