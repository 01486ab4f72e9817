"""Whether an output is what a page shows, with what the page leaves out."""

from __future__ import annotations

import re

ANY = "..."
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
_WRITTEN_ANY = re.escape(ANY)


def matches(shown: str, actual: str, *, varies: bool = False) -> bool:
    """Return whether an output is what is shown.

    >>> matches("a ... c\\n...\\nlast\\n", "a b c\\n1\\n2\\nlast\\n"), matches("took 1.5 s", "took 22 s", varies=True)
    (True, True)
    """
    return re.fullmatch(_pattern(shown, varies), _plain(actual, varies)) is not None


def _plain(text: str, varies: bool) -> str:
    lines = [line.rstrip() for line in text.rstrip().splitlines()]
    return "".join(f"{_without_numbers(line) if varies else line}\n" for line in lines)


def _without_numbers(line: str) -> str:
    """Return a line with all numbers alike, in columns of whatever width."""
    return re.sub(r"[ -]{2,}|(?<=#) +| +(?=#)", " ", _NUMBER.sub("#", line))


def _pattern(shown: str, varies: bool) -> str:
    """Return a regular expression for the outputs that a shown one stands for."""
    lines = _plain(shown, varies).splitlines()
    return "".join(
        r"(?:[^\n]*\n)*?" if line.strip() == ANY else re.escape(line).replace(_WRITTEN_ANY, r"[^\n]*?") + "\n"
        for line in lines
    )


def renewed(shown: str, actual: str, *, varies: bool = False) -> str:
    """Return what a page is to show of an output: what it shows already where that is right, else the output.

    A line that is shown with something left out stays, where it still fits a line of the output.
    """
    if not varies and matches(shown, actual):
        return shown
    partial = [line for line in shown.splitlines() if ANY in line and line.strip() != ANY]
    lines = []
    for line in actual.rstrip().splitlines():
        kept = next((line_shown for line_shown in partial if matches(line_shown, line)), None)
        lines.append(line.rstrip() if kept is None else kept)
    return "".join(f"{line}\n" for line in lines)
