"""The rank of this process in a job. Each rank writes to its own directory."""

from __future__ import annotations

import os
import re
from pathlib import Path

from depyf.bytecode.records import dataclass

FOLDER = "rank_{}"


@dataclass(frozen=True, slots=True)
class Rank:
    """The number of a process in a job with `size` processes."""

    number: int
    size: int


def own_rank() -> Rank | None:
    """Return this process's rank in a distributed job, as its launcher gives it (`torchrun` sets RANK), or None."""
    number, size = os.environ.get("RANK", ""), os.environ.get("WORLD_SIZE", "")
    if not (number.isdigit() and size.isdigit()) or int(size) < 2:
        return None
    return Rank(int(number), int(size))


def rank_directory(directory: str | os.PathLike[str]) -> tuple[Path, Path | None]:
    """Return where this process writes, and the directory of the whole job if that is different.

    If the program's own path contains its rank (`.../rank_0`, `.../rank0/debug`), it is used unchanged.
    """
    whole, rank = Path(os.fspath(directory)), own_rank()
    if rank is None:
        return whole, None
    named = re.compile(rf"rank[_-]?0*{rank.number}(?!\d)", re.IGNORECASE)
    if any(named.search(part) for part in whole.parts):
        return whole, None
    return whole / FOLDER.format(rank.number), whole
