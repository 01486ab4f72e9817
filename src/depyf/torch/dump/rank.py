"""Which of several processes of one job this is: each writes to a directory of its own."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = "rank_{}"


@dataclass(frozen=True, slots=True)
class Rank:
    """A process's number in a job of `size` processes."""

    number: int
    size: int


def own_rank() -> Rank | None:
    """Return this process's rank in a job of several processes as its launcher says (`torchrun` sets RANK), or None."""
    number, size = os.environ.get("RANK", ""), os.environ.get("WORLD_SIZE", "")
    if not (number.isdigit() and size.isdigit()) or int(size) < 2:
        return None
    return Rank(int(number), int(size))


def rank_directory(directory: str | os.PathLike[str]) -> tuple[Path, Path | None]:
    """Return where this process writes, and the directory of the whole job where that is another one.

    A program that names its rank in the path itself (`.../rank_0`, `.../rank0/debug`) is taken at its word.
    """
    whole, rank = Path(os.fspath(directory)), own_rank()
    if rank is None:
        return whole, None
    named = re.compile(rf"rank[_-]?0*{rank.number}(?!\d)", re.IGNORECASE)
    if any(named.search(part) for part in whole.parts):
        return whole, None
    return whole / FOLDER.format(rank.number), whole
