"""The numbers of a run, and the order in which an edit is judged by them."""

from __future__ import annotations

from dataclasses import dataclass

BETTER, EQUAL, TRADE, WORSE = "better", "equal", "trade", "worse"

SLOWER = 0.8
"""The ratio of the times of a call below which a call counts as slower."""


@dataclass(frozen=True)
class Counts:
    """The numbers of a run.

    eager: the number of calls that ran eager, where that is known.
    calls: the number of outermost calls of what `torch.compile` returned. None if that is not known.
    compiled: how many of these a cache entry served.
    seconds: seconds of compiling.
    """

    compiles: int = 0
    breaks: int = 0
    eager: int = 0
    failures: int = 0
    seconds: float = 0.0
    calls: int | None = None
    compiled: int = 0

    @property
    def missed(self) -> int:
        """Return the number of calls that compiled code did not serve, as far as they are counted."""
        return max(self.eager, 0 if self.calls is None else self.calls - self.compiled)

    @property
    def badness(self) -> tuple[int, int, int]:
        """Return what orders sets of edits: calls that are not compiled, then failures, then compiles and breaks."""
        return self.missed, self.failures, self.compiles + self.breaks


def compare_counts(before: Counts, after: Counts) -> str:
    """Compare the numbers of two runs of a program.

    Calls that compiled code does not serve come first: if they become fewer, more of the program is compiled, and that
    may take more compiles and show more breaks. Otherwise no number may rise. Fewer breaks or failures are not worth
    more compiles: where a break hides a number of the data, a graph without it may be compiled again for each number.

    Args:
        before: the numbers without an edit.
        after: the numbers with it.

    Returns:
        BETTER, EQUAL, WORSE, or TRADE if some numbers fall at the cost of others.
    """
    first = _signs((before.missed, after.missed))
    second = _signs((before.failures, after.failures), (before.compiles, after.compiles), (before.breaks, after.breaks))
    deciding = first if any(first) else second
    if not any(deciding):
        return EQUAL
    if max(deciding) <= 0:
        return BETTER
    return WORSE if min(*first, *second) >= 0 else TRADE


def _signs(*pairs: tuple[int, int]) -> list[int]:
    """Return -1 for each number that falls, 1 for each that rises, and 0 for each that stays."""
    return [(after > before) - (after < before) for before, after in pairs]


def is_better(before: Counts, after: Counts) -> bool:
    """Return whether the numbers of the second run are better than those of the first."""
    return compare_counts(before, after) == BETTER


def takes_longer(before: Counts, after: Counts) -> bool:
    """Return whether the second run compiles for half as long again and a second more."""
    return after.seconds > 1.5 * before.seconds + 1


def cost(before: Counts, after: Counts, ratio: float | None = None) -> str:
    """Return in words what better numbers cost: more compiles or breaks, more time of compiling, or slower calls.

    Args:
        before: the numbers without an edit.
        after: the numbers with it.
        ratio: how many times faster a call is with it; None if it was not measured. It counts below 0.8.
    """
    parts = [
        f"{old} -> {new} {name}"
        for name, old, new in (
            ("compiles", before.compiles, after.compiles),
            ("breaks", before.breaks, after.breaks),
        )
        if new > old
    ]
    if takes_longer(before, after):
        parts.append(f"{before.seconds:.1f} -> {after.seconds:.1f} s compiling")
    if ratio is not None and ratio < SLOWER:
        parts.append(f"a call takes {1 / ratio:.1f} times as long")
    return ", ".join(parts)
