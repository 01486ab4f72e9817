"""The causes of recompiles: each independent guard failure of the nearest entry, with its compiles."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import merge
from itertools import product
from typing import TypeAlias

from depyf.bytecode.records import dataclass
from depyf.findings.catalogue import Kind, kind_of_recompile
from depyf.findings.catalogue.classify import STACK, may_be_dynamic
from depyf.findings.catalogue.kind import Change as Changed
from depyf.findings.catalogue.kind import Place
from depyf.findings.catalogue.recompiles import (
    CHANGED_OUTSIDE,
    COUNTER,
    COUNTER_IN_CONDITION,
    FILLED,
    GROWS,
    GROWTH,
    HELD_IN_CALL,
    HELD_SIZE,
    IN_CALL,
    IN_CONDITION,
    KEYS,
    OF_EACH_OBJECT,
    SET_IN_CALL,
    SIZE_SPECIALIZED,
    SPECIALIZED,
    TENSORS,
)
from depyf.findings.changed_objects import ITEM_AT_END, is_changed_in, is_of
from depyf.findings.failures import is_given_up
from depyf.findings.fixed import fixed
from depyf.findings.nearest import INDEX, nearest_entry
from depyf.findings.sizes import SPECIALIZATION
from depyf.model.guard_failure import Check, GuardFailure, literal
from depyf.model.parts import SIDE_EFFECTS
from depyf.model.run import Compile, Function, Session
from depyf.model.spelling import root_name
from depyf.model.syntax import normal, parsed, parsed_line, values_in
from depyf.model.user_line import UserLine
from depyf.model.user_source import is_foreign, is_of_torch

_Pair: TypeAlias = tuple[object, object]
_Place: TypeAlias = tuple[tuple[str, int], ...]
_TO_A_NUMBER = re.compile(r"(?P<side>.+) == -?\d+(?:\.\d*)?(?:e[-+]?\d+)?")
_OF_NUMBERS = frozenset((IN_CONDITION.name, IN_CALL.name, HELD_IN_CALL.name))
_ASSIGNS_ITEM = re.compile(r"\]\s*=(?!=)")
Change: TypeAlias = frozenset[_Pair]
"""Pairs of the expected and the actual number or string; for a state, only its name."""


@dataclass(frozen=True, slots=True)
class Cause:
    """The recompiles of a function for one cause, with the guard failure of the nearest entry each time."""

    function: Function
    kind: Kind
    failures: tuple[GuardFailure, ...]
    compiles: tuple[Compile, ...]
    is_first: bool
    """Whether it is the first guard failure of an entry. Otherwise another guard failed each time, too."""
    is_changed: bool = False
    """Whether the compiled function itself changes the value, or another part of the object that holds it."""
    is_set: bool = False
    """Whether a line of the compiled function assigns the value."""
    changed_at: tuple[UserLine, ...] = ()
    """The lines of the compiled function, and of functions that it calls, that change the value or its holder."""
    dimension: int = -1
    """The dimension that was 0 or 1, of which torch needs few entries whatever the other dimensions are; else -1."""
    below: tuple[Cause, ...] = ()
    """The same cause in functions that this one calls, and other values that its line checks."""

    @property
    def step(self) -> int:
        """Return the constant step by which a number grows from each recompile to the next, or 0."""
        return _step(self.failures)

    @property
    def variety(self) -> int:
        """Return the number of new values among those that failed. A state of the process has only two.

        A value without a literal, such as a function, counts in each recompile: two of them may have the same text. So
        does a condition on the value that a line of this function checks, such as `rate == 0.2`.
        """
        if self.failures[0].check is Check.STATE:
            return 1
        texts = (text for failure in self.failures for text in (failure.expected, failure.actual))
        known = {text for text in texts if literal(text) is not ...}
        others = sum(failure.actual_value is ... for failure in self.failures)
        checked = sum(part.variety for part in self.below if part.function is self.function)
        return max(len(known) - 1 + others, 1) + checked


def causes(session: Session) -> list[Cause]:
    """Return the causes of a run's recompiles. A cause that follows from an outer call is below that call's cause."""
    functions = session.functions
    are_effects_known = SIDE_EFFECTS not in session.unavailable
    all_causes = [
        cause
        for function in functions.values()
        for cause in _causes_of(functions[function.root], function, are_effects_known=are_effects_known)
    ]
    seen = [_seen(cause) for cause in all_causes]
    at: dict[tuple[_Place, _Pair], list[int]] = {}
    for index, changes in enumerate(seen):
        for key in {(change.place, pair) for change in changes for pair in change.pairs}:
            at.setdefault(key, []).append(index)
    inside: dict[int, int] = {}
    for index, cause in enumerate(all_causes):
        # Compare only with outer causes that changed alike, because a long run has thousands.
        first = seen[index][0]
        outside = (first.place[:length] for length in range(len(first.place) + 1))
        alike = merge(*(at.get(key, ()) for key in product(outside, first.pairs)))
        others = (place for place in alike if not _is_part(all_causes[place].function, cause.function))
        outer = next((place for place in others if _follows(seen[index], seen[place])), None)
        if outer is not None:
            inside[index] = outer
    _join_parts(all_causes, seen, inside)
    _join_conditions(all_causes, inside)
    _join_of_line(all_causes, inside)
    below: dict[int, list[Cause]] = {}
    for index in inside:
        outermost = index
        while outermost in inside:
            outermost = inside[outermost]
        below.setdefault(outermost, []).append(all_causes[index])
    return [
        replace(cause, below=tuple(below.get(index, ())))
        for index, cause in enumerate(all_causes)
        if index not in inside
    ]


def _is_part(function: Function, whole: Function) -> bool:
    """Return whether a function is another one, or its resume function, which that one does not call."""
    return function is whole or (function.is_resume and not whole.is_resume and function.root == whole.root)


def _join_parts(all_causes: list[Cause], seen: list[list[_Seen]], inside: dict[int, int]) -> None:
    """Put a cause in resume functions under the same cause in their function, in whatever order they occurred."""
    first: dict[tuple[str, str, str, Change], int] = {}
    for index in sorted(range(len(all_causes)), key=lambda index: all_causes[index].function.is_resume):
        cause = all_causes[index]
        why = cause.failures[0]
        # A dtype or a flag that changed is the same change, too, if the value has the same name.
        pairs = seen[index][0].pairs or (frozenset(((why.expected, why.actual),)) if why.has_values else frozenset())
        key = (cause.function.root, cause.kind.name, why.subject, pairs)
        if index not in inside and pairs and first.setdefault(key, index) != index:
            inside[index] = first[key]


def _join_conditions(all_causes: list[Cause], inside: dict[int, int]) -> None:
    """Put a condition on a number under the cause that the number decides a branch, or differs from object to object.

    Once the number is a symbol, entries check the branch's condition instead of the number.
    """
    deciding = {
        (cause.function.key, normal(cause.failures[0].subject)): index
        for index, cause in enumerate(all_causes)
        if cause.kind.name in (IN_CONDITION.name, OF_EACH_OBJECT.name)
    }
    for index, cause in enumerate(all_causes):
        why = cause.failures[0]
        numbers = sorted(values_in(parsed(why.subject))) if why.is_condition and index not in inside else ()
        same = [deciding[cause.function.key, number] for number in numbers if (cause.function.key, number) in deciding]
        if same:
            inside[index] = same[0]


def _join_of_line(all_causes: list[Cause], inside: dict[int, int]) -> None:
    """Merge the causes of a line that checks another value each time, such as items of a dict, under the main one.

    A number that torch compiles separately for each value is one cause, whichever lines check it.
    """
    specialized = {(cause.function.key, cause.failures[0].subject) for cause in all_causes if cause.kind is SPECIALIZED}
    first: dict[tuple[str, str, UserLine | None], int] = {}
    for index in sorted(
        range(len(all_causes)),
        key=lambda place: (all_causes[place].kind is not SPECIALIZED, -len(all_causes[place].compiles)),
    ):
        why = all_causes[index].failures[0]
        looked_at = why.subject if all_causes[index].kind is SPECIALIZED else _looked_at(why)
        is_one = (all_causes[index].function.key, looked_at) in specialized
        key = all_causes[index].function.key, looked_at, None if is_one else why.line
        if index not in inside and looked_at and (is_one or why.line) and first.setdefault(key, index) != index:
            inside[index] = first[key]


def _looked_at(why: GuardFailure) -> str:
    """Return the common part of one line's guards: the container of a number, or the side of `==` that is not a number.

    For items of containers whose lengths a line checks, it is the attribute that holds them.
    """
    if why.check is Check.LENGTH:
        # A list of numbers as an index has another length and other items.
        return f"length of {why.subject.rpartition('.')[2]}" if INDEX.search(why.subject) else why.subject
    if why.is_condition:
        return side["side"] if (side := _TO_A_NUMBER.fullmatch(why.subject)) is not None else ""
    is_number = why.check is Check.VALUE and type(why.expected_value) in (int, float)
    if why.check is Check.VALUE and INDEX.search(why.subject[why.subject.rfind("[") :]):
        is_number = isinstance(why.expected_value, (int, float, str))
    return why.subject.rpartition("[")[0] if is_number and why.subject.endswith("]") else ""


def kinds(session: Session) -> Mapping[tuple[int, str], Kind]:
    """Return the kind of the cause of each recompile, by its order and the value."""
    all_causes = [part for outermost in causes(session) for part in (outermost, *outermost.below)]
    return {
        (compiled.order, why.subject): cause.kind
        for cause in all_causes
        for compiled, why in zip(cause.compiles, cause.failures, strict=True)
    }


def _causes_of(root: Function, function: Function, *, are_effects_known: bool) -> Iterator[Cause]:
    """Yield why a function was recompiled, in the order in which the causes occurred.

    Args:
        root: the function, or the one that it resumes.
        function: the function that was compiled again.
        are_effects_known: whether torch reports all objects that the compiled function changes.
    """
    by_kind, kinds, firsts = _by_kind(root, function)
    compared = {
        _looked_at(failures[0][0]): failures[0][0].line for failures in by_kind.values() if failures[0][0].is_condition
    }
    effects = [effect for compiled in function.compiles for effect in compiled.effects]
    for key, told_of in by_kind.items():
        kind = _specialized(kinds[key], key[1], told_of, compared)
        if kind is SPECIALIZED:
            told_of = [(_compared_at(compared[key[1]], function, *pair), pair[1]) for pair in told_of]
        failures, compiles = zip(*told_of, strict=True)
        theirs = [effect for effect in effects if is_of(effect.source, failures[0], function)]
        grown = fixed(kind, function, failures, compiles) or _grown(kind, failures, is_changed=bool(theirs))
        is_inside = bool(theirs) or is_changed_in(root.source, failures[0].subject)
        is_outside = are_effects_known and not is_inside and all(compiled.lines for compiled in compiles)
        grown = _changed_outside(kind, grown) if is_outside else grown
        is_set = any(_is_assigned(failures[0], line) for their in theirs for line in their.lines)
        lines = tuple(line for their in theirs for line in their.lines)
        yield Cause(function, grown, failures, compiles, key in firsts, bool(theirs), is_set, lines, key[2])


_CauseKey: TypeAlias = tuple[str, str, int]
"""The kind of a cause, its value, and the dimension that was 0 or 1, else -1."""


def _by_kind(
    root: Function, function: Function
) -> tuple[dict[_CauseKey, list[tuple[GuardFailure, Compile]]], dict[_CauseKey, Kind], set[_CauseKey]]:
    """Return the guard failures and recompiles of each cause, the kinds, and the causes that came first in a recompile.

    Args:
        root: the function, or the one that it resumes.
        function: the function that was compiled again.
    """
    by_kind: dict[_CauseKey, list[tuple[GuardFailure, Compile]]] = {}
    kinds: dict[_CauseKey, Kind] = {}
    firsts: set[_CauseKey] = set()
    for compiled in function.compiles:
        entry = nearest_entry(function, compiled)
        if entry is None or (compiled.failure is not None and not is_given_up(compiled.failure)):
            continue
        # A value that a graph break leaves on the stack is no cause of its own, because the break is a finding.
        for number, reason in enumerate(reason for reason in entry.reasons if not reason.subject.startswith(STACK)):
            kind = kind_of_recompile(reason, function.parameters, root.source)
            if _is_held_number(kind) and _decides_inside(function, reason, compiled):
                kind = IN_CONDITION
            for dimension in small_dimensions(reason):
                key = kind.name, reason.subject, dimension
                kinds[key] = kind
                by_kind.setdefault(key, []).append((reason, compiled))
                if number == 0:
                    firsts.add(key)
    return by_kind, kinds, firsts


def small_dimensions(failure: GuardFailure) -> tuple[int, ...]:
    """Return the dimensions in which a size was 0 or 1, each a cause of its own, or (-1,) for any other failure.

    A batch of one request and a sequence of one token are two causes, although both are sizes of `ids`.
    """
    if failure.dimension >= 0:
        is_small = failure.check is Check.DIMENSION or not may_be_dynamic(failure.expected_value, failure.actual_value)
        return (failure.dimension if is_small else -1,)
    changed = failure.changed_dimensions
    if not changed or any(may_be_dynamic(wanted, size) for _, wanted, size in changed):
        return (-1,)
    return tuple(dimension for dimension, _, _ in changed)


def _compared_at(line: UserLine | None, function: Function, failure: GuardFailure, compiled: Compile) -> GuardFailure:
    """Return a failure at the line that compares the number, if the line is the user's.

    That line needs the number's value. The first line that reads it may not.
    """
    is_own = line is not None and _is_own(function, compiled, line)
    return replace(failure, line=line) if is_own else failure


def _is_own(function: Function, compiled: Compile, line: UserLine) -> bool:
    """Return whether a line that torch names is of this function, or of another one of the user's that it calls."""
    name = os.path.basename(line.filename or function.filename)
    filenames = (function.filename, *(inlined.filename for inlined in compiled.lines))
    return any(os.path.basename(filename) == name for filename in filenames if not is_foreign(filename))


def _is_held_number(kind: Kind) -> bool:
    return kind.change in (Changed.INT, Changed.FLOAT)


def _decides_inside(function: Function, failure: GuardFailure, compiled: Compile) -> bool:
    """Return whether a branch or a loop depends on a number, in the inlined function whose line reads the number."""
    line, subject = failure.line, normal(failure.subject)
    if line is None or not (failure.subject in line.text or subject in values_in(parsed_line(line.text))):
        return False
    name = os.path.basename(line.filename or function.filename)
    read = [
        inlined
        for inlined in compiled.lines
        if os.path.basename(inlined.filename) == name and line.line in inlined.read
    ]
    return any(subject in inlined.deciding for inlined in read)


def _specialized(
    kind: Kind, subject: str, told_of: Collection[tuple[GuardFailure, Compile]], compared: Mapping[str, UserLine | None]
) -> Kind:
    """Return the kind for a number or size that torch compiles separately; `compared` are the numbers in conditions."""
    if subject in compared and (kind is IN_CALL or _is_held_number(kind)):
        return SPECIALIZED
    if kind is not TENSORS[Check.SIZE] or not all(_keeps_size(*pair) for pair in told_of):
        return kind
    return HELD_SIZE if "." in subject else SIZE_SPECIALIZED


def _keeps_size(failure: GuardFailure, compiled: Compile) -> bool:
    """Return whether torch made a symbol of each dimension that changed, and replaced the symbol by the number.

    torch records the replacement when a call or a loop needs the number. The new entry then requires the number.
    """
    numbers = {shape.detail for shape in compiled.shapes if shape.kind == SPECIALIZATION}
    changed = failure.changed_dimensions
    return bool(changed) and all(str(actual) in numbers for _, _, actual in changed)


def _grown(kind: Kind, failures: tuple[GuardFailure, ...], *, is_changed: bool) -> Kind:
    """Return the kind of a value, with growth mentioned after the sentence that every view shows."""
    if is_changed and kind.change is Changed.NONE and all(failure.expected_value is None for failure in failures):
        return SET_IN_CALL
    grown = _growth(kind, failures, is_changed=is_changed)
    return kind if grown is kind else replace(grown, cause=kind.cause, place_words=kind.place_words)


def _growth(kind: Kind, failures: tuple[GuardFailure, ...], *, is_changed: bool) -> Kind:
    """Return the kind for growth, if a number or a length grows by a constant step from call to call.

    is_changed: whether the compiled function itself changes the value.
    """
    if kind.change is Changed.INT or kind.name in _OF_NUMBERS:
        return _counter(kind) if _grows(failures, is_changed=is_changed) else kind
    if kind.name == KEYS.name:
        numbers = tuple(failure for failure in failures if failure.check is Check.NUMBER_OF_KEYS)
        if _grows(numbers, is_changed=is_changed):
            return replace(GROWTH, fix=kind.fix) if _is_given(failures[0]) else GROWTH
        return FILLED if is_changed and not _may_be_another(failures) else kind
    # A list that is created for each call does not grow. One that outlives calls, or that the function changes, may
    # grow.
    may_grow = kind.change is Changed.LENGTH and (kind.place is not Place.ARGUMENT or is_changed)
    if not may_grow or not _grows(failures, is_changed=True):
        return kind
    return replace(GROWTH, fix=kind.fix, change=kind.change) if not is_changed and _is_given(failures[0]) else GROWTH


def _counter(kind: Kind) -> Kind:
    """Return the kind of a number that grows."""
    if kind.name in (IN_CALL.name, HELD_IN_CALL.name):
        return replace(COUNTER, fix=kind.fix, note=f"{GROWS}, and {kind.note}")
    return COUNTER_IN_CONDITION if kind is IN_CONDITION else COUNTER


def _is_given(failure: GuardFailure) -> bool:
    """Return whether each call may pass another object that holds a value: an argument, but not `self`."""
    return failure.source.startswith("L[") and root_name(failure.source) != "self"


def _changed_outside(kind: Kind, grown: Kind) -> Kind:
    """Return the kind of a value that grows and that the compiled function does not change, with the fix for it.

    Args:
        kind: the kind of the value by itself.
        grown: the same with its growth.
    """
    if grown.fix == GROWTH.fix:
        return replace(grown, fix=CHANGED_OUTSIDE[GROWTH.name])
    if grown.fix != COUNTER.fix:
        return grown
    # An argument is a new object in each call, so nothing sets it in place.
    return replace(grown, fix=kind.fix if kind.place is Place.ARGUMENT else CHANGED_OUTSIDE[COUNTER.name])


def _may_be_another(failures: tuple[GuardFailure, ...]) -> bool:
    """Return whether an argument was a dict with keys in both calls, so that the caller may have put a key into it."""
    first = failures[0]
    is_argument = first.source.startswith("L[") and not first.source.startswith('L["self"]')
    is_filled = first.check is Check.NUMBER_OF_KEYS and first.expected_value not in (0, ...)
    return is_argument and is_filled and len(failures) == 1


def _grows(failures: tuple[GuardFailure, ...], *, is_changed: bool) -> bool:
    """Return whether a number grows by a constant step, or, if the function itself changes the value, by any step."""
    return bool(_step(failures)) or (is_changed and _rises(failures))


def _is_assigned(failure: GuardFailure, line: UserLine) -> bool:
    """Return whether a line assigns the attribute or an item, as `done[number] = True` does, that a guard checks."""
    if ITEM_AT_END.search(failure.subject):
        return _ASSIGNS_ITEM.search(line.text) is not None
    name = failure.subject.rpartition(".")[2]
    return "." in failure.subject and re.search(rf"\.{re.escape(name)}\s*=(?!=)", line.text) is not None


def _rises(failures: tuple[GuardFailure, ...]) -> bool:
    """Return whether a number became higher from recompile to recompile, and in none lower."""
    numbers = _numbers(failures)
    return bool(numbers) and sorted(numbers) == numbers and numbers[0] < numbers[-1]


def _step(failures: tuple[GuardFailure, ...]) -> int:
    numbers = _numbers(failures)
    steps = {second - first for first, second in zip(numbers, numbers[1:], strict=False)}
    return steps.pop() if len(steps) == 1 else 0


def _numbers(failures: tuple[GuardFailure, ...]) -> list[int]:
    """Return the first expected number and all actual ones, or [] if there are fewer than three or others."""
    values = [*(failure.expected_value for failure in failures[:1]), *(failure.actual_value for failure in failures)]
    numbers = [value for value in values if type(value) is int]
    return numbers if 3 <= len(numbers) == len(values) else []


@dataclass(frozen=True, slots=True)
class _Seen:
    """A recompile for a cause: its position among all, the call it came from, and what changed."""

    order: int
    place: _Place
    pairs: Change


def _seen(cause: Cause) -> list[_Seen]:
    return [
        _Seen(compiled.order, _places(compiled), _change(failure))
        for compiled, failure in zip(cause.compiles, cause.failures, strict=True)
    ]


def _follows(cause: Sequence[_Seen], outer: Sequence[_Seen]) -> bool:
    """Return whether each recompile of a cause occurred in a call that had recompiled an outer function for it.

    The stack of such a recompile goes on below that of the outer one. Two functions that one line calls share no cause,
    even if the same values change: their guards check different objects.
    """
    return all(
        any(
            before.order < recompile.order
            and len(recompile.place) > len(before.place)
            and recompile.place[: len(before.place)] == before.place
            and before.pairs & recompile.pairs
            for before in outer
        )
        for recompile in cause
    )


def _change(failure: GuardFailure) -> Change:
    """Return which numbers, strings or states changed; nothing for a value that has only two states."""
    if failure.check is Check.STATE or failure.is_mode:
        return frozenset((("training" if failure.is_mode else failure.source, ""),))
    if failure.check is Check.SIZE:
        return frozenset((wanted, size) for _, wanted, size in failure.changed_dimensions)
    expected, actual = failure.expected_value, failure.actual_value
    if type(expected) is type(actual) and isinstance(expected, (int, float, str)) and not isinstance(expected, bool):
        return frozenset(((expected, actual),))
    return frozenset()


def _places(compiled: Compile) -> _Place:
    return tuple((line.filename, line.line) for line in compiled.user_stack if not is_of_torch(line.filename))
