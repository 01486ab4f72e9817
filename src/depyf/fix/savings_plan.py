"""The task of a process that measures its compiles, and what it notes of each `torch.compile`."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from depyf.fix.plan import Plan

WATCHED = "depyf_watched"
"""The function that a tried text passes a model to if the model itself is no longer compiled. A patch leaves it out."""
SITES = "sites.json"


@dataclass(frozen=True)
class TimedPlan(Plan):
    """A run whose compiles are measured.

    watches: whether results are recorded where the text calls `WATCHED`, and not at each `torch.compile`.
    by_processor: whether the clock is the time of the processor, of this process and of the compilers that it started.
        It does not change when others use the machine, too.
    """

    watches: bool = False
    by_processor: bool = False


def read_timed_plan(file: Path) -> TimedPlan:
    """Return the plan in a file."""
    stored = json.loads(file.read_text(encoding="utf-8"))
    return TimedPlan(**{**stored, "arguments": tuple(stored["arguments"])})


@dataclass(frozen=True)
class Site:
    """A call of `torch.compile`, or of the method `compile` of a module.

    code_file, code_line: the file and the first line of the function that Dynamo compiles.
    is_module: whether a module was compiled.
    """

    file: str
    line: int
    code_file: str
    code_line: int
    is_module: bool


def write_sites(folder: Path, sites: list[Site]) -> None:
    """Write the calls into the folder of a run."""
    (folder / SITES).write_text(json.dumps([asdict(site) for site in sites]), encoding="utf-8")


def read_sites(folder: Path) -> list[Site]:
    """Return the calls of a run; none if it did not end by itself."""
    file = folder / SITES
    if not file.is_file():
        return []
    return [Site(**stored) for stored in json.loads(file.read_text(encoding="utf-8"))]
