"""A row of the catalogue."""

from __future__ import annotations

from depyf.bytecode.records import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of finding: what happened, and how to fix it.

    `cause` and `fix` are templates. `{subject}` is the value as the user would write it. `{expected}` is the value that
    the entry expects, `{actual}` the value of the call, and `{dimension}` the first dimension that differs. `fix` is
    empty if nothing needs to be done, for example if both states are expected.
    """

    name: str
    cause: str
    fix: str
    is_expected: bool = False
