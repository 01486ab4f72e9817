"""A bar: a measured number and whether it is good enough."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks import measurements

MOST_DETAILS = 40
KEEP = "DEPYF_KEEP"
"""With this environment variable, `report` writes the numbers into docs/measurements.json."""


@dataclass(frozen=True)
class Bar:
    """One measured number.

    what: the claim in words, the same in every run: rows of docs/measurements.json refer to it.
    number: the measured value with its unit: one number, or `N of M`.
    met: whether the value is good enough.
    details: what to look at if it is not.
    note: other numbers of the measurement, for the reader of the output.
    """

    what: str
    number: str
    met: bool
    details: Sequence[str] = ()
    note: str = ""


def report(bars: Sequence[Bar]) -> None:
    """Print one line for each bar, then exit with 0 if all are met and with 1 otherwise.

    With `DEPYF_KEEP=1` the rows of docs/measurements.json that this command measures get the new values.
    """
    for bar in bars:
        note = f" ({bar.note})" if bar.note else ""
        print(f"{'met    ' if bar.met else 'NOT MET'}  {bar.what}: {bar.number}{note}", flush=True)
        for detail in bar.details:
            print(f"           {detail}")
    if os.environ.get(KEEP):
        for name in measurements.keep(_command(), {bar.what: bar.number for bar in bars}):
            print(f"kept: {name}")
    sys.exit(not all(bar.met for bar in bars))


def _command() -> str:
    """Return the command that started this process, as rows write it."""
    spec = sys.modules["__main__"].__spec__
    name = spec.name.removesuffix(".__main__") if spec is not None else sys.argv[0]
    return shlex.join(["python", "-m", name, *sys.argv[1:]])


def none_of(what: str, problems: Sequence[str], of: str, note: str = "") -> Bar:
    """Return the bar that is met if there are no problems among `of`, for example '12 files'."""
    return Bar(what, f"{len(problems)} of {of}", not problems, tuple(problems[:MOST_DETAILS]), note)
