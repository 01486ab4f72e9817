"""Name why a job hangs or broke: one rank, one cause and one line, from what the ranks left."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum

from depyf.bytecode.records import dataclass
from depyf.trace.job.evidence import Evidence
from depyf.trace.job.groups import ranks_in_words
from depyf.trace.job.recorder import Call, Recorded

LEAST_WAIT = 2.0
"""A rank that waits for a shorter time, in seconds, may be one of a healthy job."""
GAPS = 3.0
"""A rank waits for long if it waits for so many times the usual time between two collectives."""
MOST_EARLIER = 1.5
"""A compile is not late before it takes longer, by this factor and a second, than the same compile of other ranks."""


class Cause(Enum):
    """Why a job hangs or broke."""

    BRANCH = "branch"
    SHAPE = "shape"
    GROUPS = "groups"
    DEAD = "dead"
    COMPILING = "compiling"
    SLOW = "slow"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict about a job.

    place: the user's line, as `file:line`.
    is_sure: False if the files do not show that the job hangs, or leave several causes.
    candidates: other causes that the files do not exclude, with what speaks for them.
    """

    cause: Cause
    ranks: tuple[int, ...]
    place: str
    text: str
    fix: str
    is_sure: bool = True
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wait:
    """Ranks that wait at a collective of a group, and members of the group that have not called it."""

    group: str
    number: int
    call: Call
    waiting: tuple[int, ...]
    absent: tuple[int, ...]
    seconds: float


_FIXES = {
    Cause.BRANCH: "let every rank of the group make the same calls in the same order",
    Cause.SHAPE: "give every rank the same size and type, for example by padding",
    Cause.GROUPS: "use the groups in the same order on every rank",
    Cause.DEAD: "repair the error of that rank; the others only wait for it",
    Cause.COMPILING: "compile on all ranks before the first collective, mark sizes that change as dynamic, or share "
    "the cache",
    Cause.SLOW: "look at that line; a longer timeout helps if the work is right and only slow",
    Cause.ABSENT: "look at the output and the stack of that rank",
}


def verdict_of(evidence: Evidence) -> Verdict | None:
    """Return why a job hangs or broke, or None if nothing shows that it does."""
    dumps = [evidence.recorded[rank] for rank in sorted(evidence.recorded)]
    odd = _odd_call(dumps)
    if odd is not None:
        return _placed(odd, evidence)
    dead = _dead(evidence)
    if dead is not None:
        return dead
    waits = stuck(dumps)
    crossed = _crossed(waits, dumps)
    if crossed is not None:
        return _placed(crossed, evidence)
    for wait in waits:
        verdict = _of_wait(wait, evidence)
        if verdict is not None:
            return verdict
    return _without_recorder(evidence) if not dumps else None


def verdict_lines(verdict: Verdict) -> list[str]:
    """Return a verdict for the reader: the sentence, the fix, and what else may be the cause."""
    first = f"{verdict.text}. Fix: {verdict.fix}."
    return [first, *(f"  or: {candidate}" for candidate in verdict.candidates)]


def _placed(verdict: Verdict, evidence: Evidence) -> Verdict:
    """Return a verdict with the line of the rank's stack, if its recorder has no lines: dumps in JSON have none."""
    stack = evidence.stacks.get(verdict.ranks[0])
    if verdict.place or stack is None:
        return verdict
    text = f"{verdict.text}; {_named(verdict.ranks).lower()} is at {stack.place}"
    return replace(verdict, place=stack.place, text=text)


def _named(ranks: Sequence[int]) -> str:
    return f"{'Ranks' if len(ranks) > 1 else 'Rank'} {ranks_in_words(ranks)}"


def _verdict(
    cause: Cause, ranks: Sequence[int], place: str, text: str, *, is_sure: bool = True, candidates: Iterable[str] = ()
) -> Verdict:
    return Verdict(cause, tuple(ranks), place, text, _FIXES[cause], is_sure, tuple(candidates))


Step = tuple[str, str, str]
"""A call by its group, operation and line."""


def _steps(dump: Recorded) -> list[Step]:
    return [_step(group, call) for (group, _), call in dump.calls.items()]


def _followers(dumps: Sequence[Recorded]) -> Counter[tuple[Step, Step]]:
    """Return how often each call followed another one, over all ranks."""
    counts: Counter[tuple[Step, Step]] = Counter()
    for dump in dumps:
        steps = _steps(dump)
        counts.update(zip(steps, steps[1:], strict=False))
    return counts


def _habit(dumps: Sequence[Recorded]) -> Callable[[Recorded, tuple[str, int]], int]:
    """Return a function: how often a call followed the one before it elsewhere; more means more usual."""
    counts = _followers(dumps)
    before: dict[int, dict[tuple[str, int], int]] = {
        dump.rank: {key: number for number, key in enumerate(dump.calls)} for dump in dumps
    }
    steps = {dump.rank: _steps(dump) for dump in dumps}

    def usual(dump: Recorded, key: tuple[str, int]) -> int:
        place = before[dump.rank][key]
        return counts[steps[dump.rank][place - 1], steps[dump.rank][place]] if place else 0

    return usual


def _shape(call: Call) -> str:
    return call.tensors if call.operation in _SAME_SIZES else ""


_SAME_SIZES = ("all_reduce", "allreduce", "broadcast", "reduce")


def _odd_call(dumps: Sequence[Recorded]) -> Verdict | None:
    """Return the verdict of the first collective that some ranks called with another operation, size or type."""
    members: dict[tuple[str, int], list[Recorded]] = defaultdict(list)
    kinds: dict[tuple[str, int], set[tuple[str, str]]] = defaultdict(set)
    for dump in dumps:
        for key, call in dump.calls.items():
            members[key].append(dump)
            kinds[key].add((call.operation, _shape(call)))
    odd = [key for key, values in kinds.items() if len(values) > 1]
    if not odd:
        return None
    first = min(odd, key=lambda key: min(dump.calls[key].nanoseconds for dump in members[key]))
    usual = _habit(dumps)
    votes: dict[tuple[str, str], list[Recorded]] = defaultdict(list)
    for dump in members[first]:
        call = dump.calls[first]
        votes[call.operation, _shape(call)].append(dump)
    sizes = Counter(
        (call.operation, _shape(call)) for dump in dumps for key, call in dump.calls.items() if key[0] == first[0]
    )
    ordered = sorted(
        votes,
        key=lambda kind: (len(votes[kind]), max(usual(dump, first) for dump in votes[kind]), sizes[kind]),
    )
    sides = [votes[kind] for kind in ordered]
    step, expected = (_step(first[0], side[0].calls[first]) for side in (sides[0], sides[-1]))
    return _odd_words(first, sides, skips=_followers(dumps)[expected, step] > 0)


def _step(group: str, call: Call) -> Step:
    return group, call.operation, call.line


def _odd_words(key: tuple[str, int], sides: Sequence[Sequence[Recorded]], *, skips: bool) -> Verdict:
    """Return the verdict of a call that differs; `skips`: earlier, this call came right after the one of the others."""
    group, number = key
    strange, normal = sides[0], sides[-1]
    call, other = strange[0].calls[key], normal[0].calls[key]
    ranks = [dump.rank for dump in strange]
    others = [dump.rank for dump in normal]
    is_shape = call.operation == other.operation
    at = f"collective #{number} of group `{strange[0].names.get(group, group)}`"
    words = [f"{each.operation}({each.tensors}){each.line}" for each in (call, other)]
    text = f"{_named(ranks)} called {words[0]} as {at}, but {_named(others).lower()} called {words[1]}"
    left_out = f"{_named(ranks).lower()} skipped {other.operation}{other.line}, or left a loop earlier than the others"
    added = f"{_named(ranks).lower()} called {call.operation}{call.line} in addition, or earlier than the others"
    candidates = [] if is_shape else [added] if skips else [left_out, added]
    if skips and not is_shape:
        # all_reduce, broadcast | broadcast: the second rank may have left out the first call, or moved the other one.
        text += f"; elsewhere {call.operation} follows {other.operation}, "
        text += f"so it may have skipped {other.operation}{other.line}"
    if len(strange) == len(normal):
        candidates.append(f"{_named(others).lower()} is the one that differs: equally many ranks made each call")
    place = other.place if skips and not is_shape else call.place
    return _verdict(Cause.SHAPE if is_shape else Cause.BRANCH, ranks, place, text, candidates=candidates)


def _dead(evidence: Evidence) -> Verdict | None:
    """Return the verdict of a rank that ended by its own fault."""
    roots = {rank: end for rank, end in evidence.ended.items() if not end.follows}
    if not roots:
        return None
    # A traceback says more than the exit code of a rank that torchrun or a signal ended.
    rank = min(roots, key=lambda number: (not roots[number].place, number))
    end = roots[rank]
    dump = evidence.recorded.get(rank)
    last = next(reversed(dump.calls.values())) if dump is not None and dump.calls else None
    survivors = [call for other in evidence.recorded.values() if (call := _last_pending(other)) is not None]
    failed = [other.place for other in evidence.ended.values() if other.follows and other.place]
    place = end.place or (survivors[0].place if survivors else "") or (failed[0] if failed else "")
    text = f"Rank {rank} died: {end.error}{f', {end.place}' if end.place else ''}"
    if survivors:
        text += f"; others wait for it at {survivors[0].operation}{survivors[0].line}"
    elif failed:
        text += f"; others failed at {failed[0]}, because they lost it"
    if last is not None:
        text += f"; its last collective is {last.operation}{last.line}"
    return _verdict(Cause.DEAD, [rank], place, text)


def _last_pending(dump: Recorded) -> Call | None:
    return next((call for call in reversed(dump.calls.values()) if not call.is_done), None)


def stuck(dumps: Sequence[Recorded]) -> list[Wait]:
    """Return the collectives at which ranks wait for a long time, and for whom, longest first."""
    members: dict[str, set[int]] = defaultdict(set)
    done: set[tuple[str, int]] = set()
    world: set[int] = {rank for dump in dumps for rank in dump.ranks} | {dump.rank for dump in dumps}
    for dump in dumps:
        for key, call in dump.calls.items():
            members[key[0]].add(dump.rank)
            if call.is_done:
                done.add(key)
    if "0" in members:
        members["0"] = world
    pending: dict[tuple[str, int], list[Recorded]] = defaultdict(list)
    for dump in dumps:
        for key, call in dump.calls.items():
            if not call.is_done:
                pending[key].append(dump)
    by_rank = {dump.rank: dump for dump in dumps}
    limit = max(LEAST_WAIT, GAPS * _usual_gap(dumps))
    waits = []
    for key, waiting in pending.items():
        seconds = max(_waited(dump, key) for dump in waiting)
        absent = [rank for rank in sorted(members[key[0]]) if rank not in by_rank or key not in by_rank[rank].calls]
        since = min(dump.calls[key].nanoseconds for dump in waiting) / 1e9
        late = [rank for rank in absent if rank not in by_rank or by_rank[rank].taken - since > limit / 2]
        if seconds > limit and late and key not in done:
            call = waiting[0].calls[key]
            waits.append(Wait(*key, call, tuple(dump.rank for dump in waiting), tuple(late), seconds))
    return sorted(waits, key=lambda wait: -wait.seconds)


def _waited(dump: Recorded, key: tuple[str, int]) -> float:
    return dump.taken - dump.calls[key].nanoseconds / 1e9


def _usual_gap(dumps: Sequence[Recorded]) -> float:
    """Return the time that passes between two collectives of a rank, in seconds: the median."""
    gaps: list[float] = []
    for dump in dumps[:64]:
        times = sorted(call.nanoseconds for call in dump.calls.values())
        gaps += [(later - earlier) / 1e9 for earlier, later in zip(times, times[1:], strict=False)]
    return sorted(gaps)[len(gaps) // 2] if gaps else 0.0


def _crossed(waits: Sequence[Wait], dumps: Sequence[Recorded]) -> Verdict | None:
    """Return the verdict of ranks that wait for each other in two groups."""
    for place, wait in enumerate(waits):
        for other in waits[place + 1 :]:
            if set(wait.absent) & set(other.waiting) and set(other.absent) & set(wait.waiting):
                return _crossed_words(wait, other, dumps)
    return None


def _crossed_words(wait: Wait, other: Wait, dumps: Sequence[Recorded]) -> Verdict:
    usual = _habit(dumps)
    by_rank = {dump.rank: dump for dump in dumps}
    sides = sorted(
        (wait, other),
        key=lambda side: (
            len(side.waiting),
            max(usual(by_rank[rank], (side.group, side.number)) for rank in side.waiting),
        ),
    )
    names = {group: name for dump in dumps for group, name in dump.names.items()}
    words = [f"{side.call.operation} #{side.number} of group `{names[side.group]}`{side.call.line}" for side in sides]
    text = f"{_named(sides[0].waiting)} waits at {words[0]}, and {_named(sides[1].waiting).lower()} at {words[1]}: "
    is_same_line = sides[0].call.line == sides[1].call.line
    text += "the same line with another group" if is_same_line else "they use the groups in another order"
    candidates = []
    if len(sides[0].waiting) == len(sides[1].waiting):
        other_ranks = _named(sides[1].waiting).lower()
        candidates.append(f"{other_ranks} is the one that differs: equally many ranks wait at each")
    return _verdict(Cause.GROUPS, sides[0].waiting, sides[0].call.place, text, candidates=candidates)


def _of_wait(wait: Wait, evidence: Evidence) -> Verdict | None:
    """Return why ranks do not come to a collective, by the first of them that something is known about."""
    verb = "wait" if len(wait.waiting) > 1 else "waits"
    at = f"so {_named(wait.waiting).lower()} {verb} {wait.seconds:.0f} s at {wait.call.operation} #{wait.number}"
    names = {group: name for dump in evidence.recorded.values() for group, name in dump.names.items()}
    at += f" of group `{names.get(wait.group, wait.group)}`{wait.call.line}"
    for rank in wait.absent:
        compiling, stack = evidence.compiling.get(rank), evidence.stacks.get(rank)
        if compiling is not None and compiling.seconds < MOST_EARLIER * compiling.elsewhere + 1:
            return None
        if compiling is not None or stack is not None and stack.compiles:
            name, reason = ("", "") if compiling is None else (f" `{compiling.name}`", compiling.reason)
            spent = f" for {compiling.seconds:.0f} s" if compiling is not None and compiling.seconds else ""
            why = f" ({reason})" if reason else ""
            place = stack.place if stack is not None else wait.call.place
            return _verdict(Cause.COMPILING, [rank], place, f"Rank {rank} has compiled{name}{spent}{why}, {at}")
        if stack is not None and stack.waits:
            text = f"Rank {rank} waits elsewhere, at {stack.place}, {at}"
            return _verdict(Cause.BRANCH, [rank], stack.place, text)
        if stack is not None:
            return _verdict(Cause.SLOW, [rank], stack.place, f"Rank {rank} is at {stack.place}, {at}")
    text = f"{_named(wait.absent)} has not called it, {at}"
    return _verdict(Cause.ABSENT, wait.absent, wait.call.place, text, is_sure=False, candidates=_open(wait, evidence))


def _open(wait: Wait, evidence: Evidence) -> list[str]:
    without = [rank for rank in wait.absent if rank not in evidence.recorded]
    candidates = ["it is slow, or in another call: its stack would show it (py-spy, faulthandler)"]
    if not evidence.traced:
        candidates.append("it compiles: TORCH_TRACE would show it")
    if without:
        candidates.insert(0, f"{_named(without).lower()} died: it left no recorder dump; its output would show it")
    return candidates


def _without_recorder(evidence: Evidence) -> Verdict | None:
    """Return what stacks and traces alone point to. They do not show that a job hangs."""
    waiting = {rank: stack for rank, stack in evidence.stacks.items() if stack.waits}
    others = {rank: stack for rank, stack in evidence.stacks.items() if not stack.waits}
    for rank, compiling in evidence.compiling.items():
        if len(evidence.compiling) < len(evidence.traced):
            place = evidence.stacks[rank].place if rank in evidence.stacks else ""
            text = f"If the job hangs: rank {rank} has not finished `{compiling.name}`"
            return _verdict(Cause.COMPILING, [rank], place, text, is_sure=False)
    if not waiting or len(waiting) < len(others):
        return None
    places = Counter(stack.place for stack in waiting.values())
    for rank, stack in others.items():
        cause = Cause.COMPILING if stack.compiles else Cause.SLOW
        doing = "compiles" if stack.compiles else "is"
        text = f"If the job hangs: rank {rank} {doing} at {stack.place}, others wait at {places.most_common(1)[0][0]}"
        return _verdict(cause, [rank], stack.place, text, is_sure=False)
    return _other_line(waiting, places)


def _other_line(waiting: Mapping[int, object], places: Counter[str]) -> Verdict | None:
    if len(places) < 2:
        return None
    rarest = places.most_common()[-1][0]
    ranks = [rank for rank, stack in waiting.items() if getattr(stack, "place", "") == rarest]
    text = f"If the job hangs: {_named(ranks).lower()} waits at {rarest}, others at {places.most_common(1)[0][0]}"
    return _verdict(Cause.BRANCH, ranks, rarest, text, is_sure=False)
