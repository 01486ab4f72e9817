"""Return early for byte-equal code objects: their listings are equal, so one listing suffices."""

from __future__ import annotations

from operator import attrgetter

from depyf.bytecode.code import Code
from depyf.bytecode.constants import ATOMS, key

READ = attrgetter("bytecode", "exception_table", "names", "varnames", "cellvars", "freevars", "optimised")
"""The fields that determine a listing, except for constants and the fields that `header` compares."""


def nested_if_same(original: Code, candidate: Code) -> list[tuple[Code, Code]] | None:
    """Return the pairs of nested code that remain to be proven if the codes are equal, or None if they differ.

    Their headers have been compared.
    """
    if READ(original) != READ(candidate) or len(original.consts) != len(candidate.consts):
        return None
    nested = []
    for mine, its in zip(original.consts, candidate.consts):
        if isinstance(mine, Code) and isinstance(its, Code):
            nested.append((mine, its))
        elif type(mine) is not type(its) or not _same(mine, its):
            return None
    return nested


def _same(mine: object, its: object) -> bool:
    return mine == its if type(mine) in ATOMS else key(mine) == key(its)
