"""`ranks.json`: the ranks of a job that was read from traces, in groups of equal ranks, and how the groups differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from depyf.bytecode.records import dataclass

RANKS = "ranks.json"


@dataclass(frozen=True, slots=True)
class GroupRow:
    """Ranks that compiled the same. `folder` is the dump of the first of them, or ""."""

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
        """Return the name of the group for readers."""
        return f"rank {self.ranks}" if self.count == 1 else f"ranks {self.ranks}"


@dataclass(frozen=True, slots=True)
class DivergenceRow:
    """A difference between some ranks and the largest group, with its consequences."""

    kind: str
    ranks: str
    count: int
    compile: str
    cause: str
    more: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JobIndex:
    """A job: the number of its ranks, bytes and records, and of unreadable records by cause."""

    ranks: int
    bytes: int
    records: int
    omitted: dict[str, int]
    missing: str
    groups: tuple[GroupRow, ...]
    divergences: tuple[DivergenceRow, ...]

    def label_of(self, folder: str) -> str:
        """Return the name of the ranks that a folder stands for, or "" if it stands for itself."""
        return next((group.label for group in self.groups if group.folder == folder), "")


def read_job(directory: Path) -> JobIndex | None:
    """Return the job in a directory, or None.

    Raises:
        ValueError: the file is not depyf's.
    """
    path = directory / RANKS
    if not path.is_file():
        return None
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return JobIndex(
            content["ranks"],
            content["bytes"],
            content["records"],
            content["omitted"],
            content["missing"],
            tuple(GroupRow(**{**group, "unfinished": tuple(group["unfinished"])}) for group in content["groups"]),
            tuple(
                DivergenceRow(**{**divergence, "more": tuple(divergence["more"])})
                for divergence in content["divergences"]
            ),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path} is no index of ranks: {error}") from error
