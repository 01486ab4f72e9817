"""Name why a job hangs or broke: one rank, one cause and one line, from what the ranks left."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from depyf.trace.job.evidence import Compiling, Evidence
from depyf.trace.job.recorder import Call, Recorded
from depyf.trace.job.sizes import size_clash
from depyf.trace.job.verdict import Cause, Verdict, make_verdict, named
from depyf.trace.job.waits import Wait, causes_of, cycle_of, stuck

MOST_SKIPPED = 16
"""A rank may have skipped at most so many calls: the rest of an iteration."""
MOST_EARLIER = 1.5
"""A compile is not late before it takes longer, by this factor and a second, than the same compile of other ranks."""


def verdict_of(evidence: Evidence) -> Verdict | None:
    """Return why a job hangs or broke, or None if nothing shows that it does."""
    dumps = [evidence.recorded[rank] for rank in sorted(evidence.recorded)]
    odd = _odd_call(dumps)
    if odd is not None:
        return _placed(odd, evidence)
    clash = size_clash(evidence)
    dead = None if clash is not None else _dead(evidence)
    if clash is not None or dead is not None:
        return _placed(clash, evidence) if clash is not None else dead
    waits = stuck(dumps)
    causes = causes_of(waits)
    cycle = cycle_of(waits) if not causes else []
    if cycle:
        return _placed(_crossed_words(cycle, dumps), evidence)
    for wait in causes:
        verdict = _of_wait(wait, evidence)
        if verdict is not None:
            return verdict
    return _without_recorder(evidence) if not dumps else None


def _placed(verdict: Verdict, evidence: Evidence) -> Verdict:
    """Return a verdict with a line, if its recorder has none: dumps in JSON have no lines.

    A rank that an exception ended has its line in the traceback. Its stack shows the handler of the exception.
    """
    if verdict.place:
        return verdict
    for rank in verdict.witnesses or verdict.ranks:
        end, stack = evidence.ended.get(rank), evidence.stacks.get(rank)
        place = end.place if end is not None and end.place else stack.place if stack is not None else ""
        if place:
            text = f"{verdict.text}; {named([rank]).lower()} {'was' if end is not None else 'is'} at {place}"
            return replace(verdict, place=place, text=text)
    return verdict


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


def _distance(dumps: Sequence[Recorded], key: tuple[str, int], expected: Step, step: Step) -> int:
    """Return how many calls after `expected` the ranks called `step`, before the call `key`; 0 if they never did.

    The calls from `key` on are those of the mismatch itself, so they are no habit.
    """
    shortest = 0
    for dump in dumps:
        before = itertools.takewhile(lambda call: call != key, dump.calls)
        steps = [_step(earlier[0], dump.calls[earlier]) for earlier in before]
        for place, earlier_step in enumerate(steps):
            if earlier_step == expected:
                after = steps[place + 1 : place + 1 + MOST_SKIPPED]
                if step in after and not 0 < shortest <= after.index(step) + 1:
                    shortest = after.index(step) + 1
    return shortest


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
    return _odd_words(first, sides, skipped=_distance(dumps, first, expected, step))


def _step(group: str, call: Call) -> Step:
    return group, call.operation, call.line


def _odd_words(key: tuple[str, int], sides: Sequence[Sequence[Recorded]], *, skipped: int) -> Verdict:
    """Return the verdict of a call that differs; `skipped`: earlier, this call came so many calls after the others'."""
    group, number = key
    strange, normal = sides[0], sides[-1]
    call, other = strange[0].calls[key], normal[0].calls[key]
    ranks = [dump.rank for dump in strange]
    others = [dump.rank for dump in normal]
    is_shape = call.operation == other.operation and _shape(call) != _shape(other)
    skipped = 0 if is_shape else skipped
    at = f"collective #{number} of group `{strange[0].names.get(group, group)}`"
    words = [f"{side.operation}({side.tensors}){side.line}" for side in (call, other)]
    text = f"{named(ranks)} called {words[0]} as {at}, but {named(others).lower()} called {words[1]}"
    left_out = f"{named(ranks).lower()} skipped {other.operation}{other.line}, or left a loop earlier than the others"
    added = f"{named(ranks).lower()} called {call.operation}{call.line} in addition, or earlier than the others"
    candidates = [] if is_shape else [added] if skipped else [left_out, added]
    if skipped:
        # all_reduce, broadcast | broadcast: the second rank may have left out the first call, or moved the other one.
        text += f"; elsewhere {call.operation} follows {other.operation}, "
        more = (
            f" and the {skipped - 1} calls after it" if skipped > 2 else " and the call after it" if skipped > 1 else ""
        )
        text += f"so it may have skipped {other.operation}{other.line}{more}"
    if len(strange) == len(normal):
        candidates.append(f"{named(others).lower()} is the one that differs: equally many ranks made each call")
    place = other.place if skipped else call.place
    verdict = make_verdict(Cause.SHAPE if is_shape else Cause.BRANCH, ranks, place, text, candidates=candidates)
    # The others wait at the skipped call, so their stacks show its line.
    return replace(verdict, witnesses=tuple(others)) if skipped else verdict


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
    return make_verdict(Cause.DEAD, [rank], place, text)


def _last_pending(dump: Recorded) -> Call | None:
    return next((call for call in reversed(dump.calls.values()) if not call.is_done), None)


def _crossed_words(cycle: Sequence[Wait], dumps: Sequence[Recorded]) -> Verdict:
    """Return the verdict of ranks that wait for each other in several groups."""
    usual = _habit(dumps)
    by_rank = {dump.rank: dump for dump in dumps}
    sides = sorted(
        cycle,
        key=lambda side: (
            len(side.waiting),
            max(usual(by_rank[rank], (side.group, side.number)) for rank in side.waiting),
        ),
    )
    names = {group: name for dump in dumps for group, name in dump.names.items()}
    words = [
        f"{side.call.operation} #{side.number} of group `{names.get(side.group, side.group)}`{side.call.line}"
        for side in sides
    ]
    text = f"{named(sides[0].waiting)} waits at {words[0]}, and {named(sides[1].waiting).lower()} at {words[1]}: "
    is_same_line = sides[0].call.line == sides[1].call.line
    earlier = {step[:2] for dump in dumps for step in _steps(dump)[:-1]}
    if not is_same_line and _step(sides[0].group, sides[0].call)[:2] not in earlier:
        # while ...: all_reduce(group=a) | barrier(group=b): the call after the loop is new, so no order can be wrong.
        text += (
            f"{named(sides[0].waiting).lower()} left a loop earlier, or called {sides[0].call.operation} in addition"
        )
        return make_verdict(Cause.BRANCH, sides[0].waiting, sides[0].call.place, text)
    text += "the same line with another group" if is_same_line else "they use the groups in another order"
    skipped = f"{named(sides[0].waiting).lower()} skipped {sides[1].call.operation}{sides[1].call.line}"
    candidates = [] if is_same_line else [skipped]
    if len(sides[0].waiting) == len(sides[1].waiting):
        other_ranks = named(sides[1].waiting).lower()
        candidates.append(f"{other_ranks} is the one that differs: equally many ranks wait at each")
    return make_verdict(Cause.GROUPS, sides[0].waiting, sides[0].call.place, text, candidates=candidates)


def _of_wait(wait: Wait, evidence: Evidence) -> Verdict | None:
    """Return why ranks do not come to a collective, by the first of them that something is known about."""
    verb = "wait" if len(wait.waiting) > 1 else "waits"
    at = f"so {named(wait.waiting).lower()} {verb} {wait.seconds:.0f} s at {wait.call.operation} #{wait.number}"
    names = {group: name for dump in evidence.recorded.values() for group, name in dump.names.items()}
    at += f" of group `{names.get(wait.group, wait.group)}`{wait.call.line}"
    for rank in wait.absent:
        compiling, stack = evidence.compiling.get(rank), evidence.stacks.get(rank)
        if compiling is not None and not _is_late(compiling):
            return None
        if compiling is not None or stack is not None and stack.compiles:
            place = stack.place if stack is not None else wait.call.place
            text = f"Rank {rank} has compiled{_compiled(compiling)}, {at}"
            return make_verdict(Cause.COMPILING, [rank], place, text)
        if stack is not None and stack.waits:
            text = f"Rank {rank} waits elsewhere, at {stack.place}, {at}"
            return make_verdict(Cause.BRANCH, [rank], stack.place, text)
        if stack is not None:
            return make_verdict(Cause.SLOW, [rank], stack.place, f"Rank {rank} is at {stack.place}, {at}")
    text = f"{named(wait.absent)} has not called it, {at}"
    return make_verdict(
        Cause.ABSENT, wait.absent, wait.call.place, text, is_sure=False, candidates=_open(wait, evidence)
    )


def _is_late(compiling: Compiling) -> bool:
    """Return whether a compile takes longer than on other ranks, or missed a cache that hit there."""
    return compiling.misses_alone or compiling.seconds >= MOST_EARLIER * compiling.elsewhere + 1


def _compiled(compiling: Compiling | None) -> str:
    """Return the name, the seconds and the reason of a compile as far as they are known."""
    if compiling is None:
        return ""
    spent = f" for {compiling.seconds:.0f} s" if compiling.seconds else ""
    return f" `{compiling.name}`{spent}" + (f" ({compiling.reason})" if compiling.reason else "")


def _open(wait: Wait, evidence: Evidence) -> list[str]:
    without = [rank for rank in wait.absent if rank not in evidence.recorded]
    candidates = ["it is slow, or in another call: its stack would show it (py-spy, faulthandler)"]
    if not evidence.traced:
        candidates.append("it compiles: TORCH_TRACE would show it")
    if without:
        candidates.insert(0, f"{named(without).lower()} died: it left no recorder dump; its output would show it")
    return candidates


def _without_recorder(evidence: Evidence) -> Verdict | None:
    """Return what stacks and traces alone point to. They do not show that a job hangs."""
    waiting = {rank: stack for rank, stack in evidence.stacks.items() if stack.waits}
    others = {rank: stack for rank, stack in evidence.stacks.items() if not stack.waits}
    for rank, compiling in evidence.compiling.items():
        if len(evidence.compiling) < len(evidence.traced):
            place = evidence.stacks[rank].place if rank in evidence.stacks else ""
            text = f"If the job hangs: rank {rank} has not finished `{compiling.name}`"
            return make_verdict(Cause.COMPILING, [rank], place, text, is_sure=False)
    if not waiting or len(waiting) < len(others):
        return None
    places = Counter(stack.place for stack in waiting.values())
    for rank, stack in others.items():
        cause = Cause.COMPILING if stack.compiles else Cause.SLOW
        doing = "compiles" if stack.compiles else "is"
        text = f"If the job hangs: rank {rank} {doing} at {stack.place}, others wait at {places.most_common(1)[0][0]}"
        return make_verdict(cause, [rank], stack.place, text, is_sure=False)
    return _other_line(waiting, places)


def _other_line(waiting: Mapping[int, object], places: Counter[str]) -> Verdict | None:
    if len(places) < 2:
        return None
    rarest = places.most_common()[-1][0]
    ranks = [rank for rank, stack in waiting.items() if getattr(stack, "place", "") == rarest]
    text = f"If the job hangs: {named(ranks).lower()} waits at {rarest}, others at {places.most_common(1)[0][0]}"
    return make_verdict(Cause.BRANCH, ranks, rarest, text, is_sure=False)
