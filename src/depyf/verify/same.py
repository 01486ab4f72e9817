"""Whether two code objects are equal byte for byte. The listings are equal then too: one will do."""

from __future__ import annotations

from operator import attrgetter

from depyf.bytecode.code import Code
from depyf.bytecode.constants import ATOMS, key

READ = attrgetter("bytecode", "exception_table", "names", "varnames", "cellvars", "freevars", "optimised")
"""What a listing is made of, but for constants, and what `header` compares."""


def nested_if_same(original: Code, candidate: Code) -> list[tuple[Code, Code]] | None:
    """Return the pairs of nested code that equal code objects leave to be proven, or None where the two differ.

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
