"""Compare the ranks of a job: groups of equal ranks, and how each group differs from the largest.

Ranks are compared by their facts (`scan`). The largest group is the norm. For each other group, the first differing
fact is the cause; later differences are listed.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from depyf.bytecode.records import dataclass
from depyf.trace.job.scan import SEPARATOR, Fact, Rank
from depyf.trace.reader import Cause

MOST_SKEW = 0.5
"""A rank is slow if its compiles took longer than the same compiles of other ranks by this fraction."""
LEAST_SKEW = 0.2
"""A rank is not slow for a difference below this many seconds."""

MOST_RANKS = 1_000_000
"""The most ranks of a job. A higher number in a file name is not a rank."""

ORDER = (
    *("recompile", "compile", "failure", "graph break", "tensor metadata", "execution order", "collectives"),
    *("sizes of collectives", "captured graph", "guards", "guard count", "operations"),
    *("aotautograd cache", "fx_graph cache", "joint graph", "forward graph", "backward graph", "post-grad graph"),
)
"""The kinds of facts of one compile, causes before effects."""
CACHES = ("aotautograd cache", "fx_graph cache")

OTHER_TEXT = "is a different text"
CUT = (Cause.CUT_OFF.value, Cause.DAMAGED.value)
"""Why a file may end before the rank did."""

Facts = Mapping[str, tuple[Fact, ...]]
"""The facts of each group, by their digest."""


@dataclass(slots=True)
class Group:
    """Ranks that compiled the same, by the digest of their facts. The first one stands for all."""

    facts: str
    ranks: list[Rank] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Divergence:
    """A difference between some ranks and the others: `kind` is a word for it, `cause` a sentence.

    ranks: as text, for example `0-3, 7`.
    more: further differences, which may follow from the first.
    """

    kind: str
    ranks: str
    count: int
    compile: str
    cause: str
    more: tuple[str, ...] = ()


@dataclass(slots=True)
class Job:
    """All ranks of a job."""

    groups: list[Group]
    divergences: list[Divergence]
    ranks: list[Rank]
    missing: list[int]


def job_of(ranks: Sequence[Rank], facts: Facts) -> Job:
    """Return the groups of ranks and how they differ."""
    groups: dict[str, Group] = {}
    for rank in ranks:
        if not rank.error:
            groups.setdefault(rank.facts, Group(rank.facts)).ranks.append(rank)
    ordered = sorted(groups.values(), key=lambda group: (-len(group.ranks), _number(group.ranks[0])))
    divergences = [_unreadable(rank) for rank in ranks if rank.error]
    missing = _missing(ranks)
    if missing:
        divergences.append(_lacking(missing, ranks))
    for group in ordered[1:]:
        divergences.append(_divergence(ordered[0], group, facts))
    divergences += [_cut_off(rank) for rank in ordered[0].ranks if _is_cut(rank)] if ordered else []
    every = (fact for facts_of_group in facts.values() for fact in facts_of_group)
    divergences += _slow(ranks, {fact.compile: fact.words for fact in every if fact.kind == "compile"})
    return Job(ordered, divergences, list(ranks), missing)


def ranks_in_words(numbers: Iterable[int]) -> str:
    """Return ranks as ranges.

    >>> ranks_in_words([3, 0, 1, 2, 7])
    '0-3, 7'
    """
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(f"{first}-{last}" if last > first else str(first) for first, last in parts)


def ranks_of(words: str) -> set[int]:
    """Return the ranks that ranges name.

    >>> sorted(ranks_of("0-2, 7"))
    [0, 1, 2, 7]
    """
    ends = (part.partition("-") for part in words.split(", ") if part)
    return {number for first, _, last in ends for number in range(int(first), int(last or first) + 1)}


def _number(rank: Rank) -> int:
    return rank.rank if rank.rank is not None else 0


def _named(ranks: Iterable[Rank]) -> str:
    return ranks_in_words(_number(rank) for rank in ranks)


def _missing(ranks: Sequence[Rank]) -> list[int]:
    """Return the ranks without a file: those that others communicate with, and those below a rank with a file."""
    present = {rank.rank for rank in ranks if rank.rank is not None and rank.rank < MOST_RANKS}
    if not present:
        return []
    size = max((rank.group_size for rank in ranks), default=0)
    return sorted(set(range(max(max(present) + 1, size))) - present)


def _lacking(missing: list[int], ranks: Sequence[Rank]) -> Divergence:
    size = max((rank.group_size for rank in ranks), default=0)
    why = f"others use {size} ranks" if size > max(map(_number, ranks)) + 1 else "others have higher numbers"
    plural = "s" if len(missing) > 1 else ""
    cause = f"no trace of rank{plural} {ranks_in_words(missing)}: {why}"
    return Divergence("missing rank", ranks_in_words(missing), len(missing), "", cause)


def _unreadable(rank: Rank) -> Divergence:
    return Divergence("unreadable", _named([rank]), 1, "", f"{rank.path} could not be read: {rank.error}")


def _is_cut(rank: Rank) -> bool:
    return any(cause in rank.omitted for cause in CUT)


def _cut_off(rank: Rank) -> Divergence:
    """Return the divergence of a rank whose file is truncated but has all facts of the others."""
    return Divergence("stopped", _named([rank]), 1, "", f"the file is truncated after {rank.last}; no fact is missing")


def _divergence(norm: Group, group: Group, facts: Facts) -> Divergence:
    """Return how a group differs from the norm."""
    group_facts, others = facts[group.facts], facts[norm.facts]
    differing = _differences(group_facts, others)
    first = group.ranks[0]
    stopped = _stopped(first, differing)
    ranks, count = _named(group.ranks), len(group.ranks)
    if stopped:
        return Divergence("stopped", ranks, count, first.unfinished[-1] if first.unfinished else "", stopped)
    if not differing:
        return Divergence("order", ranks, count, "", "the same facts in another order")
    functions = {fact.compile: fact.words for fact in (*others, *group_facts) if fact.kind == "compile"}
    kind, compile_id, cause = _cause(differing, group_facts, others, functions)
    more = Counter(
        f"{difference.kind} of {difference.compile}" if difference.compile else difference.kind
        for difference in differing
    )
    more.pop(f"{kind} of {compile_id}", None)
    return Divergence(kind, ranks, count, compile_id, cause, tuple(more))


@dataclass(frozen=True, slots=True)
class _Difference:
    compile: str
    kind: str
    number: int
    own: Fact | None
    norm: Fact | None


def _differences(group_facts: Sequence[Fact], norm: Sequence[Fact]) -> list[_Difference]:
    """Return the facts that differ, in the order of the compiles, and within a compile causes before effects."""
    mine = {(fact.compile, fact.kind, fact.number): fact for fact in group_facts}
    theirs = {(fact.compile, fact.kind, fact.number): fact for fact in norm}
    place = {name: number for number, name in enumerate(_in_order(group_facts, norm))}
    rank = {kind: number for number, kind in enumerate(ORDER)}
    keys = sorted(
        mine.keys() | theirs.keys(), key=lambda key: (place[key[0]], rank.get(key[1], len(ORDER)), key[1], key[2])
    )
    return [_Difference(*key, mine.get(key), theirs.get(key)) for key in keys if mine.get(key) != theirs.get(key)]


def _in_order(group_facts: Sequence[Fact], norm: Sequence[Fact]) -> list[str]:
    """Return the compiles of a rank in its order, with the missing ones after their predecessor in other ranks."""
    order = list(dict.fromkeys(fact.compile for fact in group_facts))
    before = -1
    for name in dict.fromkeys(fact.compile for fact in norm):
        if name not in order:
            order.insert(before + 1, name)
        before = order.index(name)
    return order


def _stopped(rank: Rank, differing: Sequence[_Difference]) -> str:
    """Return where a rank stopped that had compiled the same up to there, or ""."""
    is_cut = _is_cut(rank)
    changed = [difference for difference in differing if difference.own is not None]
    # The last record of a truncated file differs from that of other files.
    if not differing or len(changed) > (1 if is_cut else 0) or not (is_cut or rank.unfinished or _lacks_end(differing)):
        return ""
    if not rank.last:
        return "the file has no record"
    inside = f", in compile {rank.unfinished[-1]}" if rank.unfinished else ""
    cut = "the file is truncated" if is_cut else "the trace ends"
    return f"{cut} after {rank.last}{inside}; {len(differing)} facts that others have are missing"


def _lacks_end(differing: Sequence[_Difference]) -> bool:
    """Return whether the only difference is that whole compiles are missing."""
    whole = {difference.compile for difference in differing if difference.kind == "compile" and difference.own is None}
    return all(difference.compile in whole or difference.kind == "execution order" for difference in differing)


def _cause(
    differing: Sequence[_Difference], group_facts: Sequence[Fact], others: Sequence[Fact], functions: Mapping[str, str]
) -> tuple[str, str, str]:
    """Return the kind of a divergence, its compile, and its cause in words."""
    head = [difference for difference in differing if difference.compile == differing[0].compile]
    first = next((difference for difference in head if difference.kind in ORDER), head[0])
    place = functions.get(first.compile, "no compile")
    if first.kind in ("recompile", "compile") and first.norm is None:
        return "recompile", first.compile, _recompiled(first, head, group_facts, others, place)
    if first.kind in ("recompile", "compile") and first.own is None:
        return "compile missing", first.compile, f"compile {first.compile} of {place} is missing"
    mine = first.own.words if first.own is not None else "none"
    theirs = first.norm.words if first.norm is not None else "none"
    if mine or theirs:
        own_words, other_words = _apart(mine, theirs)
        words = f"{first.kind} of {first.compile} ({place}): {own_words}; others: {other_words}"
        return first.kind, first.compile, words
    words = "is missing" if first.own is None else "others have none" if first.norm is None else OTHER_TEXT
    return first.kind, first.compile, f"{first.kind} of {first.compile} ({place}): {words}"


def _apart(mine: str, theirs: str) -> tuple[str, str]:
    """Return the first differing part of two texts, with its position; the whole texts if they have one part."""
    parts, others = mine.split(SEPARATOR), theirs.split(SEPARATOR)
    if len(parts) < 2 and len(others) < 2:
        return mine, theirs
    place = next((at for at, pair in enumerate(zip(parts, others, strict=False)) if pair[0] != pair[1]), -1)
    place = min(len(parts), len(others)) if place < 0 else place
    apart = [texts[place] if place < len(texts) else "no more" for texts in (parts, others)]
    return f"number {place + 1} is {apart[0]}", apart[1]


def _recompiled(
    first: _Difference, head: Sequence[_Difference], group_facts: Sequence[Fact], others: Sequence[Fact], place: str
) -> str:
    reason = next(
        (difference.own.words for difference in head if difference.kind == "recompile" and difference.own is not None),
        "",
    )
    mine, theirs = (Counter(fact.words for fact in facts if fact.kind == "compile") for facts in (group_facts, others))
    times = mine[place] - theirs[place]
    often = f"{times} times more" if times > 1 else "once more"
    function = place.partition(",")[0]
    return f"compiled `{function}` {often}, first as {first.compile}{f': {reason}' if reason else ''} ({place})"


def _slow(ranks: Sequence[Rank], functions: Mapping[str, str]) -> list[Divergence]:
    """Return the ranks whose compiles took much longer than the same compiles of other ranks."""
    times: dict[str, list[float]] = {}
    for rank in ranks:
        for name, seconds in rank.seconds.items():
            times.setdefault(name, []).append(seconds)
    usual = {name: statistics.median(values) for name, values in times.items() if len(values) > 2}
    slow_ranks = []
    for rank in ranks:
        common = [name for name in rank.seconds if name in usual]
        spent, norm = sum(rank.seconds[name] for name in common), sum(usual[name] for name in common)
        if spent - norm > max(LEAST_SKEW, MOST_SKEW * norm):
            worst = max(common, key=lambda name: rank.seconds[name] - usual[name])
            cause = (
                f"compiling took {spent:.1f} s, {norm:.1f} s in the median; "
                f"most in {worst} ({functions.get(worst, '')}): "
                f"{rank.seconds[worst]:.1f} s, {usual[worst]:.1f} s in the median"
            )
            slow_ranks.append(Divergence("slow rank", _named([rank]), 1, worst, cause))
    return slow_ranks
