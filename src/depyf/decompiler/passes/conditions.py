"""The conditions under which passes apply."""

from __future__ import annotations

from typing import Any, Protocol

from depyf.decompiler.structure.choices import Choices, Dispatch

COLLAPSE = "short-circuits"


class Settings(Protocol):
    """The facts about the work on a code object that a condition may read.

    Attributes:
        known: Facts about the globals that it names, if code is rewritten to its most readable form.
        choices: How to structure, or which dispatch to write.
        without: The names of disabled passes.
    """

    known: Any
    choices: Choices | Dispatch
    without: frozenset[str]


def always(work: Settings) -> bool:
    """Apply a pass to all code."""
    return True


def simplifies(work: Settings) -> bool:
    """Return whether code is rewritten to its most readable form."""
    return work.known is not None


def is_kept(work: Settings) -> bool:
    """Return whether code is written as it is."""
    return work.known is None


def structures(work: Settings) -> bool:
    """Return whether statements are recovered from the control flow."""
    return isinstance(work.choices, Choices)


def scopes_dispatch(work: Settings) -> bool:
    """Return whether control flow becomes dispatch loops, with a `try` for each handler."""
    return work.choices is Dispatch.SCOPES


def levels_dispatch(work: Settings) -> bool:
    """Return whether control flow becomes dispatch loops, with one `try` for all handlers."""
    return work.choices is Dispatch.LEVELS


def joins_exits(work: Settings) -> bool:
    """Return whether copies of an exit are joined."""
    return isinstance(work.choices, Choices) and work.choices.joins_exits


def keeps_branches(work: Settings) -> bool:
    """Return whether short circuits stay branches."""
    return isinstance(work.choices, Choices) and COLLAPSE in work.without
