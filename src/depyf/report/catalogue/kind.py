"""A row of the catalogue."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of finding: what happened, and what to write.

    `cause` and `fix` are templates: `{subject}` is the value as the user would write it, `{expected}` and `{actual}`
    what the entry asks for and what the call had, `{dimension}` the first dimension that differs.
    `fix` is empty where nothing is to be done, as where the state is one of two that are expected.
    """

    name: str
    cause: str
    fix: str
    is_expected: bool = False
