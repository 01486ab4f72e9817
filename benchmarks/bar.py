"""A bar: a number that is claimed, and whether it is met."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

MOST_DETAILS = 40


@dataclass(frozen=True)
class Bar:
    """One measured number.

    what: the claim, in words. number: what was measured, with its unit. met: whether that is enough.
    details: what to look at when it is not.
    """

    what: str
    number: str
    met: bool
    details: Sequence[str] = ()


def report(bars: Sequence[Bar]) -> None:
    """Print one line per bar and leave with 0 when all are met, with 1 otherwise."""
    for bar in bars:
        print(f"{'met    ' if bar.met else 'NOT MET'}  {bar.what}: {bar.number}", flush=True)
        for detail in bar.details:
            print(f"           {detail}")
    sys.exit(not all(bar.met for bar in bars))


def none_of(what: str, problems: Sequence[str], of: str) -> Bar:
    """Return the bar that is met when there are no problems among `of`, e.g. '12 files'."""
    return Bar(what, f"{len(problems)} of {of}", not problems, tuple(problems[:MOST_DETAILS]))
