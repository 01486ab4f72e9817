"""`ranks.json`: the ranks of a job that were read from traces: groups of equal ones, and how groups differ."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RANKS = "ranks.json"


@dataclass(frozen=True, slots=True)
class GroupRow:
    """Ranks that did the same. `folder` is the dump of the first of them, empty where there is none."""

    ranks: str
    count: int
    folder: str
    compiles: int
    least_seconds: float
    most_seconds: float
    last: str
    unfinished: tuple[str, ...]

    @property
    def label(self) -> str:
        """Return what a reader calls the group."""
        return f"rank {self.ranks}" if self.count == 1 else f"ranks {self.ranks}"


@dataclass(frozen=True, slots=True)
class DivergenceRow:
    """How some ranks differ from the largest group, and what else differs."""

    kind: str
    ranks: str
    count: int
    compile: str
    cause: str
    more: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JobIndex:
    """What is known of a job: how many ranks, bytes and records were read, and what was left out by cause."""

    ranks: int
    bytes: int
    records: int
    omitted: dict[str, int]
    missing: str
    groups: tuple[GroupRow, ...]
    divergences: tuple[DivergenceRow, ...]

    def label_of(self, folder: str) -> str:
        """Return what a reader calls the ranks that a folder stands for, empty where it stands for itself."""
        return next((group.label for group in self.groups if group.folder == folder), "")


def read_job(directory: Path) -> JobIndex | None:
    """Return what is known of the job in a directory, None where it holds none.

    Raises:
        ValueError: the file is none of depyf's.
    """
    path = directory / RANKS
    if not path.is_file():
        return None
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return JobIndex(
            found["ranks"],
            found["bytes"],
            found["records"],
            found["omitted"],
            found["missing"],
            tuple(GroupRow(**{**each, "unfinished": tuple(each["unfinished"])}) for each in found["groups"]),
            tuple(DivergenceRow(**{**each, "more": tuple(each["more"])}) for each in found["divergences"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path} is no index of ranks: {error}") from error
