"""Collect what a job left about each rank: recorder, stacks, output, and the compiles of its trace."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field

from depyf.bytecode.records import dataclass
from depyf.trace.job.outputs import MOST_BYTES, Ended, Outputs
from depyf.trace.job.recorder import Recorded, find_recorded
from depyf.trace.job.scan import Fact
from depyf.trace.job.stacks import Stack, stack_of
from depyf.trace.job.work import Scanned

HIT, MISS = "hit", "miss"
MOST_FILES = 200_000
MOST_DEPTH = 6
MOST_SECONDS = 864_000
"""A compile of more than ten days is a clock that was set, or a trace of another job."""
_RANK_OF_STACK = re.compile(r"(\d{1,7})(?:\.(?:txt|stack|log|dump))?$")
_RANK_OF_LOG = re.compile(
    r"rank[_-]?(\d{1,7})(?=\D|$)|[/\\](\d{1,7})[/\\]std(?:err|out)\.log$|\.(\d{1,7})\.(?:log|err)$"
)
_TRACE = re.compile(r"dedicated_log_torch_trace")
_TEXT = (".txt", ".log", ".stack", ".err", ".out")
_STACK_SIGNS = ("most recent call first)", "Process ", 'Thread "')


@dataclass(frozen=True, slots=True)
class Compiling:
    """A compile that a rank had not finished when its trace ended.

    name: `0/3 of step`.
    reason: why it compiled, from its guards or its caches, or "".
    seconds: since it began, up to the time of the last sign of the job; 0.0 if unknown.
    elsewhere: how long the same compile took on other ranks, at most; 0.0 if they had none.
    misses_alone: whether a cache missed that had the compile on another rank.
    """

    name: str
    reason: str
    seconds: float
    elsewhere: float
    misses_alone: bool = False


@dataclass(slots=True)
class Evidence:
    """The facts about the ranks of a job, by rank."""

    recorded: dict[int, Recorded] = field(default_factory=dict)
    stacks: dict[int, Stack] = field(default_factory=dict)
    ended: dict[int, Ended] = field(default_factory=dict)
    compiling: dict[int, Compiling] = field(default_factory=dict)
    traced: set[int] = field(default_factory=set)

    @property
    def is_empty(self) -> bool:
        """Return whether nothing is known."""
        return not (self.recorded or self.stacks or self.ended)


def evidence_of(paths: Iterable[str]) -> Evidence:
    """Return the evidence in files and in the files of folders, without that of traces."""
    evidence = Evidence()
    outputs = Outputs()
    paths = list(paths)
    folders = [path for path in paths if os.path.isdir(path)]
    evidence.recorded = {dump.rank: dump for dump in find_recorded(paths)}
    for path in _texts(folders):
        text = _end_of(path)
        if any(sign in text[:400] for sign in _STACK_SIGNS) and (rank := _RANK_OF_STACK.search(path)) is not None:
            stack = stack_of(text)
            if stack is not None:
                evidence.stacks[int(rank[1])] = stack
            continue
        match = _RANK_OF_LOG.search(path)
        outputs.add(int(next(filter(None, match.groups()))) if match else None, text)
    evidence.ended = dict(outputs.ended())
    return evidence


def _texts(folders: list[str]) -> Iterator[str]:
    count = 0
    for folder in folders:
        depth = folder.rstrip(os.sep).count(os.sep)
        for place, inside, names in os.walk(folder):
            inside[:] = sorted(inside) if place.count(os.sep) - depth < MOST_DEPTH else []
            for name in sorted(names):
                if name.endswith(_TEXT) and not _TRACE.search(name) and count < MOST_FILES:
                    count += 1
                    yield os.path.join(place, name)


def _end_of(path: str) -> str:
    with open(path, "rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - MOST_BYTES))
        return stream.read(MOST_BYTES).decode("utf-8", "replace")


def add_compiles(evidence: Evidence, scanned: Scanned) -> None:
    """Add which ranks had not finished a compile when their traces ended."""
    ranks = [rank for rank in scanned.ranks if rank.rank is not None and not rank.error]
    evidence.traced = {rank.rank for rank in ranks if rank.rank is not None}
    longest: dict[str, float] = {}
    for rank in ranks:
        for name, seconds in rank.seconds.items():
            longest[name] = max(longest.get(name, 0.0), seconds)
    hits = _hits(scanned)
    last = max((_of_year(dump.taken) for dump in evidence.recorded.values() if dump.taken), default=0.0)
    last = max(last, max((rank.ended for rank in ranks), default=0.0))
    for rank in ranks:
        if rank.unfinished and rank.rank is not None:
            name = rank.unfinished[-1].partition(" ")[0]
            facts = [fact for fact in scanned.facts.get(rank.facts, ()) if fact.compile == name]
            reason, alone = _reason(facts, hits.get(name, set()))
            seconds = last - rank.began
            known = seconds if 0 <= seconds < MOST_SECONDS else 0.0
            evidence.compiling[rank.rank] = Compiling(
                rank.unfinished[-1], reason, known, longest.get(name, 0.0), alone
            )


def _reason(facts: Sequence[Fact], hits: set[str]) -> tuple[str, bool]:
    """Return why a compile was needed, and whether it missed a cache that had it on another rank.

    hits: the caches that had the compile on some rank.
    """
    causes = [fact.words for fact in facts if fact.kind == "recompile"]
    causes += [f"{fact.kind}: {fact.words}" for fact in facts if fact.kind.endswith("cache")]
    misses = {fact.kind for fact in facts if fact.kind.endswith("cache") and fact.words == MISS}
    alone = bool(misses & hits)
    return "; ".join(causes) + (", which hit on other ranks" if alone else ""), alone


def _hits(scanned: Scanned) -> dict[str, set[str]]:
    """Return for each compile the caches that had it on some rank."""
    hits: dict[str, set[str]] = {}
    for facts in scanned.facts.values():
        for fact in facts:
            if fact.kind.endswith("cache") and fact.words == HIT:
                hits.setdefault(fact.compile, set()).add(fact.kind)
    return hits


def _of_year(seconds: float) -> float:
    """Return a time as the reader of traces writes it: months of 31 days, in this machine's time zone."""
    local = time.localtime(seconds)
    days = 31 * local.tm_mon + local.tm_mday
    return 86400.0 * days + 3600 * local.tm_hour + 60 * local.tm_min + local.tm_sec + seconds % 1
