"""A verdict about a job: the rank, the cause and the line, with a fix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum

from depyf.bytecode.records import dataclass
from depyf.trace.job.groups import ranks_in_words


class Cause(Enum):
    """Why a job hangs or broke."""

    BRANCH = "branch"
    SHAPE = "shape"
    GROUPS = "groups"
    DEAD = "dead"
    COMPILING = "compiling"
    SLOW = "slow"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict about a job.

    place: the user's line, as `file:line`.
    is_sure: False if the files do not show that the job hangs, or leave several causes.
    candidates: other causes that the files do not exclude, with what speaks for them.
    witnesses: the ranks whose stacks show the line; () for those of the verdict.
    """

    cause: Cause
    ranks: tuple[int, ...]
    place: str
    text: str
    fix: str
    is_sure: bool = True
    candidates: tuple[str, ...] = ()
    witnesses: tuple[int, ...] = ()


FIXES = {
    Cause.BRANCH: "let every rank of the group make the same calls in the same order",
    Cause.SHAPE: "give every rank the same size and type, for example by padding",
    Cause.GROUPS: "use the groups in the same order on every rank",
    Cause.DEAD: "repair the error of that rank; the others only wait for it",
    Cause.COMPILING: "compile on all ranks before the first collective, mark sizes that change as dynamic, or share "
    "the cache",
    Cause.SLOW: "look at that line; a longer timeout helps if the work is right and only slow",
    Cause.ABSENT: "look at the output and the stack of that rank",
}


def verdict_lines(verdict: Verdict) -> list[str]:
    """Return a verdict for the reader: the sentence, the fix, and what else may be the cause."""
    first = f"{verdict.text}. Fix: {verdict.fix}."
    return [first, *(f"  or: {candidate}" for candidate in verdict.candidates)]


def named(ranks: Sequence[int]) -> str:
    """Return ranks as a subject: `Rank 3`, `Ranks 0-2`."""
    return f"{'Ranks' if len(ranks) > 1 else 'Rank'} {ranks_in_words(ranks)}"


def make_verdict(
    cause: Cause, ranks: Sequence[int], place: str, text: str, *, is_sure: bool = True, candidates: Iterable[str] = ()
) -> Verdict:
    """Return a verdict with the fix of its cause.

    Args:
        cause: the cause of the hang.
        ranks: the ranks that cause it.
        place: the line of the user's, or "".
        text: the verdict in words.
        is_sure: whether the facts leave no other cause.
        candidates: the possible explanations, if there are several.
    """
    return Verdict(cause, tuple(ranks), place, text, FIXES[cause], is_sure, tuple(candidates))
