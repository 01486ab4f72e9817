"""The profile in a terminal: the ten most expensive lines, and where the rest of the step went."""

from __future__ import annotations

import os
from collections.abc import Callable

from depyf.report.links.origins import Origin
from depyf.report.profile.charges import WORDS
from depyf.report.profile.model import Profile
from depyf.report.profile.tables import Row, kinds, line_rows

MOST = 10


def most_expensive(profile: Profile, text_of: Callable[[Origin], str] = lambda origin: "") -> list[str]:
    """Return the most expensive lines of a step, and its time by kind.

    text_of: gives the text of a line, or an empty string.
    """
    if not profile.each_step:
        return ["depyf: nothing was measured", *(f"  {note}" for note in profile.notes)]
    told = [_head(profile)]
    for row in line_rows(profile)[:MOST]:
        told += _row(profile, row, text_of)
    told.append("  by kind:")
    told += [
        f"  {duration(seconds):>9} {100 * profile.share(seconds):5.1f} %  {WORDS[kind]}"
        for kind, seconds in kinds(profile).items()
    ]
    return told + [f"  note: {note}" for note in profile.notes]


def _head(profile: Profile) -> str:
    bare = profile.bare_seconds
    without = f", {duration(bare)} without the profiler" if bare is not None else ""
    left = "".join(f"; left out: {count} that {why}" for why, count in profile.left_out.items())
    steps = f"{len(profile.each_step)} steady steps"
    return f"depyf: a step takes {duration(profile.seconds)}{without} ({steps}{left})"


def _row(profile: Profile, row: Row, text_of: Callable[[Origin], str]) -> list[str]:
    begin = f"  {duration(row.seconds):>9} {100 * profile.share(row.seconds):5.1f} %  "
    if len(row.lines) == 1:
        return [f"{begin}{_place(row.lines[0])}  {text_of(row.lines[0])}  ({row.kind})".replace("    (", "  (")]
    told = [f"{begin}{len(row.lines)} lines computed together  ({row.kind})"]
    return told + [f"{'':21}{_place(line)}  {text_of(line)}".rstrip() for line in row.lines]


def _place(line: Origin) -> str:
    return f"{os.path.normpath(line[0])}:{line[1]}"


def duration(seconds: float) -> str:
    """Return a short time for a reader.

    >>> duration(1.5), duration(0.0123), duration(0.0000042)
    ('1.50 s', '12.30 ms', '4.2 us')
    """
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{1e3 * seconds:.2f} ms" if seconds >= 0.001 else f"{1e6 * seconds:.1f} us"
