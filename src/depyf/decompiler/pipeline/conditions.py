"""The conditions under which passes apply."""

from __future__ import annotations

from depyf.decompiler.pipeline.work import Work
from depyf.decompiler.structure.choices import Choices, Dispatch

COLLAPSE = "short-circuits"


def simplifies(work: Work) -> bool:
    """Return whether code is rewritten to its most readable form."""
    return work.known is not None


def is_kept(work: Work) -> bool:
    """Return whether code is written as it is."""
    return work.known is None


def structures(work: Work) -> bool:
    """Return whether statements are recovered from the control flow."""
    return isinstance(work.choices, Choices)


def scopes_dispatch(work: Work) -> bool:
    """Return whether control flow becomes dispatch loops, with a `try` for each handler."""
    return work.choices is Dispatch.SCOPES


def levels_dispatch(work: Work) -> bool:
    """Return whether control flow becomes dispatch loops, with one `try` for all handlers."""
    return work.choices is Dispatch.LEVELS


def joins_exits(work: Work) -> bool:
    """Return whether copies of an exit are joined."""
    return isinstance(work.choices, Choices) and work.choices.joins_exits


def keeps_branches(work: Work) -> bool:
    """Return whether short circuits stay branches."""
    return isinstance(work.choices, Choices) and COLLAPSE in work.without


def keeps_lists(work: Work) -> bool:
    """Return whether a list that a loop iterates over must not be compiled to a tuple."""
    return work.graph.is_kept and work.listing.iterates_tuples
