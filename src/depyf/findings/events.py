"""The events behind a run's recompiles: every recompile belongs to exactly one, with all that differed at once.

A training loop changes `self.drop.p` and `self.tau` in each epoch and runs once with and once without gradients:

    entries of `forward`       0/0      0/1    0/2        0/3    ...
    differs from the nearest   -        grad   p, tau     grad

Two causes tell all these entries apart: `p` (with `tau`, which changes in the same calls) and the gradients. They are
the smallest such set, and each is an event. With `p` and `tau` fixed two entries would remain, so the gradients alone
explain one recompile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field

from depyf.bytecode.records import dataclass
from depyf.findings.calls import call_of
from depyf.findings.catalogue.kind import Change
from depyf.findings.causes import Cause, causes, small_dimensions
from depyf.findings.computed import Origins
from depyf.findings.failures import is_limit
from depyf.findings.nearest import guard_failures, independent
from depyf.model.guard_failure import Check, GuardFailure
from depyf.model.run import Compile, Function, Recompile, Session

CauseSet = frozenset[int]
"""Causes by their position among the causes of the run."""


@dataclass(frozen=True, slots=True)
class Event:
    """One cause of recompiles, and the recompiles that belong to it.

    compiles: the recompiles that belong to this event and to no other: first those of the function with the cause.
    together: the causes that differed in some of the same calls, and the number of these recompiles.
    alone: the number of recompiles that would remain if nothing but this cause and what always differs with it changed,
        in the function with the most of them. One call may need an entry in each of several functions.
    avoided: the number of `compiles` that would not happen if only this cause were gone.
    elsewhere: the causes in `together` to which other recompiles belong, so that they are events themselves.
    """

    cause: Cause
    compiles: tuple[tuple[Function, Compile], ...]
    together: tuple[tuple[Cause, int], ...] = ()
    alone: int = 0
    avoided: int = 0
    elsewhere: tuple[Cause, ...] = ()


@dataclass(slots=True)
class _Row:
    """A recompile, and the causes that made it.

    apart: the causes that keep it apart from each earlier entry, by the entry.
    nearest: the causes that keep it apart from the nearest entry.
    in_call: the same for all recompiles of the function and of its resume functions in the same call.
    """

    function: Function
    compiled: Compile
    apart: dict[str, CauseSet] = field(default_factory=dict)
    nearest: CauseSet = frozenset()
    in_call: CauseSet = frozenset()


def events(session: Session) -> list[Event]:
    """Return the events of a run's recompiles, in the order of their causes."""
    all_causes = causes(session)
    members: dict[int, list[int]] = {}
    for index, cause in enumerate(all_causes):
        for compiled in (recompile for part in (cause, *cause.below) for recompile in part.compiles):
            members.setdefault(compiled.order, []).append(index)
    rows = list(_rows(session, all_causes, members))
    principals = _smallest_cover(all_causes, rows)
    switches = _switches(all_causes, principals, rows)
    switches |= _beside_sizes(all_causes, principals, rows)
    principals |= switches
    owner = {row.compiled.order: _owner(all_causes, principals, switches, row.in_call) for row in rows if row.in_call}
    # A cause whose recompiles all belong to other events is one of the differences of those.
    principals &= set(owner.values())
    attached = _attached(all_causes, principals, rows)
    return [_event(index, all_causes, rows, owner, attached.get(index, ())) for index in sorted(principals)]


def _rows(session: Session, all_causes: Sequence[Cause], members: Mapping[int, list[int]]) -> Iterator[_Row]:
    """Yield each recompile that has a cause."""
    indexes = _Indexes(all_causes)
    recompiles = [pair for pair in session.compiles() if pair[1].order in members]
    calls: dict[tuple[object, ...], set[int]] = {}
    for function, compiled in recompiles:
        calls.setdefault(call_of(function, compiled), set()).update(members[compiled.order])
    origins = Origins(all_causes, session.functions)
    for function, compiled in recompiles:
        if not isinstance(compiled.trigger, Recompile):
            continue
        together = calls[call_of(function, compiled)]
        row = _Row(function, compiled)
        row.nearest = origins.of(members[compiled.order], together)
        row.in_call = origins.of(together, together)
        for entry in compiled.trigger.entries:
            failures = independent(guard_failures(entry))
            known = [index for failure in failures for index in indexes.of(function, failure)]
            row.apart[entry.entry] = origins.of(known, together)
        yield row


class _Indexes:
    """The causes of a run by the value that a guard failure is about, by what it checks, and by a dimension of 0 or 1.

    A bias that was None in one call and had another size in the next one has two causes.
    """

    def __init__(self, all_causes: Sequence[Cause]) -> None:
        self._by_dimension: dict[tuple[str, str, int, Check], int] = {}
        self._by_check: dict[tuple[str, str, Check], int] = {}
        self._by_subject: dict[tuple[str, str], int] = {}
        for index, cause in enumerate(all_causes):
            for part in (cause, *cause.below):
                for failure in part.failures:
                    self._by_subject[part.function.key, failure.subject] = index
                    self._by_check[part.function.key, failure.subject, failure.check] = index
                    self._by_dimension[part.function.key, failure.subject, part.dimension, failure.check] = index

    def of(self, function: Function, failure: GuardFailure) -> Iterator[int]:
        """Yield the cause of a guard failure; for sizes of 0 and 1, one for each dimension."""
        place = function.key, failure.subject
        for dimension in small_dimensions(failure):
            exact = self._by_dimension.get((*place, dimension, failure.check))
            near = self._by_check.get((*place, failure.check), self._by_subject.get(place))
            index = near if exact is None else exact
            if index is not None:
                yield index


def _smallest_cover(all_causes: Sequence[Cause], rows: Sequence[_Row]) -> set[int]:
    """Return the fewest causes of which one differs between any two entries, as a greedy search finds them.

    Of causes that explain equally many pairs of entries, a state of the call comes first, because what changes with it
    in one call follows from where the call stands; then the one that torch checks first.
    """
    always = _always_with(all_causes, rows)
    pairs = [
        causes.union(*(always.get(index, ()) for index in causes))
        for row in rows
        for causes in (row.in_call, *_apart_in_call(row))
        if causes
    ]
    chosen: set[int] = set()
    while pairs:
        counts = Counter(index for causes in pairs for index in causes)
        best = max(
            counts,
            key=lambda index: (counts[index], _is_of_call(all_causes[index]), all_causes[index].is_first, -index),
        )
        chosen.add(best)
        pairs = [causes for causes in pairs if best not in causes]
    return chosen


def _apart_in_call(row: _Row) -> Iterator[CauseSet]:
    """Yield what keeps a call apart from each earlier entry: other functions of the call were recompiled with it."""
    for apart in row.apart.values():
        yield apart | (row.in_call - row.nearest) if apart else apart


def _always_with(all_causes: Sequence[Cause], rows: Sequence[_Row]) -> dict[int, CauseSet]:
    """Return for a cause those of its resumed function and other parts of it that differed in each of its calls.

    Such a cause may keep an older entry of a resume function apart by itself, and yet it never changed by itself.
    """
    common: dict[int, CauseSet] = {}
    for row in rows:
        for index in row.in_call:
            common[index] = common.get(index, row.in_call) & row.in_call
    return {
        index: frozenset(
            other
            for other in others
            if all_causes[other].function is not all_causes[index].function
            and all_causes[other].function.root == all_causes[index].function.root
        )
        for index, others in common.items()
    }


def _is_of_call(cause: Cause) -> bool:
    is_state = cause.kind.is_expected and cause.kind.place is None and cause.failures[0].check is not Check.OFFSET
    return is_state and len(cause.compiles) == 1


def _switches(all_causes: Sequence[Cause], principals: Collection[int], rows: Sequence[_Row]) -> set[int]:
    """Return the states of the call that changed once, in a call in which a value changed that changes in others, too.

    A counter grows in each call, and the last call is the first without gradients. That recompile would also happen if
    the counter were fixed, so it is an event of its own.
    """
    states = [index for index in range(len(all_causes)) if index not in principals and _is_of_call(all_causes[index])]
    switches: set[int] = set()
    for index in states:
        theirs = [row.in_call for row in rows if index in row.in_call]
        others = {other for nearest in theirs for other in nearest if other in principals}
        is_new = not any(nearest & switches for nearest in theirs)
        if is_new and all(any(other in row.in_call and index not in row.in_call for row in rows) for other in others):
            switches.add(index)
    return switches


def _beside_sizes(all_causes: Sequence[Cause], principals: Collection[int], rows: Sequence[_Row]) -> set[int]:
    """Return the values that changed once, in a call in which a size changed that changes in other calls, too.

    From the second size on torch compiles for any, so the value is what a program can change:

        video of 4 frames, of 6 frames, then of 8 frames with `resolution` "high"
    """
    beside: set[int] = set()
    for index, cause in enumerate(all_causes):
        theirs = [row.in_call for row in rows if index in row.in_call]
        others = {other for in_call in theirs for other in in_call if other in principals}
        is_value = index not in principals and cause.kind.change in _DISTINCT and not cause.kind.is_expected
        if not is_value or len(theirs) != 1 or not all(_is_size(all_causes[other]) for other in others):
            continue
        if all(any(other in row.in_call and index not in row.in_call for row in rows) for other in others):
            beside.add(index)
    return beside


def _is_size(cause: Cause) -> bool:
    return cause.failures[0].check is Check.SIZE


_DISTINCT = (Change.STRING, Change.BOOL, Change.NONE, Change.CONSTANT, Change.FUNCTION)
"""Changes of values of which torch makes no symbol."""


def _owner(
    all_causes: Sequence[Cause], principals: Collection[int], switches: Collection[int], in_call: CauseSet
) -> int:
    """Return the event to which a recompile belongs: of several, the one whose value is new most often."""
    candidates = in_call & set(switches) or in_call & set(principals)
    return max(candidates, key=lambda index: (all_causes[index].variety, -index))


def _attached(all_causes: Sequence[Cause], principals: Collection[int], rows: Sequence[_Row]) -> dict[int, list[int]]:
    """Return for each event the causes that are no events of their own, and differ mostly together with it."""
    attached: dict[int, list[int]] = {}
    for index in range(len(all_causes)):
        shared = Counter(other for row in rows if index in row.in_call for other in row.in_call if other in principals)
        if index not in principals and shared:
            attached.setdefault(max(shared, key=lambda other: (shared[other], -other)), []).append(index)
    return attached


def _event(
    index: int, all_causes: Sequence[Cause], rows: Sequence[_Row], owner: Mapping[int, int], attached: Sequence[int]
) -> Event:
    event_rows = [row for row in rows if owner.get(row.compiled.order) == index]
    shared = Counter(other for row in event_rows for other in row.in_call if other != index)
    order = sorted(shared, key=lambda other: (other not in attached, other))
    group, outermost = frozenset((index, *attached)), all_causes[index].function
    principals = frozenset(owner.values())
    functions = {row.function.key for row in event_rows}
    theirs = [row for row in rows if row.function.key in functions]
    everything = frozenset(range(len(all_causes)))
    return Event(
        all_causes[index],
        tuple(
            (row.function, row.compiled) for row in sorted(event_rows, key=lambda row: row.function is not outermost)
        ),
        tuple((all_causes[other], shared[other]) for other in order),
        min(_most_recompiles(theirs, group), sum(all_causes[member].variety for member in group)),
        sum(1 for row in theirs) - _recompiles(theirs, everything - {index}),
        tuple(all_causes[other] for other in order if other in principals),
    )


def _most_recompiles(rows: Sequence[_Row], changing: CauseSet) -> int:
    """Return the recompiles that would happen if only some causes changed, in the function with the most of them."""
    by_function: dict[str, list[_Row]] = {}
    for row in rows:
        by_function.setdefault(row.function.key, []).append(row)
    return max((_recompiles(theirs, changing) for theirs in by_function.values()), default=0)


def _recompiles(rows: Sequence[_Row], changing: CauseSet) -> int:
    """Return how many of the recompiles would happen if only some causes changed.

    Without the others, a call needs a new entry only if one of these causes keeps it apart from each entry that is
    left. What torch does not list, because an entry is too old, counts as apart; so a caller bounds the result by the
    number of values.
    """
    left: dict[str, set[str]] = {}
    count = 0
    for row in rows:
        entries = left.setdefault(row.function.key, {str(row.function.compiles[0].id)})
        if all(row.apart[entry] & changing for entry in entries if entry in row.apart) and row.nearest & changing:
            entries.add(str(row.compiled.id))
            count += 1
    return count


def limited(function: Function) -> list[Compile]:
    """Return the compiles of a function that torch did not begin, because it had reached its limit of entries."""
    return [compiled for compiled in function.compiles if compiled.failure is not None and is_limit(compiled.failure)]
