"""The causes of recompiles: each independent thing that the nearest entry refused, with its compiles."""

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
from depyf.findings.catalogue.recompiles import (
    COUNTER,
    COUNTER_IN_CONDITION,
    GROWTH,
    HELD_IN_CALL,
    IN_CALL,
    IN_CONDITION,
    KEYS,
    PLACES,
    SET_IN_CALL,
    SIZE_SPECIALIZED,
    SPECIALIZED,
    TENSORS,
)
from depyf.findings.catalogue.refusals import STACK
from depyf.findings.failures import is_limit
from depyf.findings.nearest import INDEX, changed_dimensions, literal, nearest
from depyf.model.refused import NUMBER_OF_KEYS, Refused
from depyf.model.run import Compile, Function, Recompile, Session, SideEffect
from depyf.model.spelling import spelled
from depyf.model.syntax import parsed, values_in
from depyf.model.user_source import is_of_torch

_Pair: TypeAlias = tuple[object, object]
_Place: TypeAlias = tuple[tuple[str, int], ...]
_TO_A_NUMBER = re.compile(r"(?P<side>.+) == -?\d+(?:\.\d*)?(?:e[-+]?\d+)?")
_HELD = frozenset(f"{place}-{kind}" for place in PLACES for kind in ("int", "float"))
_NUMBERS = frozenset((*(f"{place}-int" for place in PLACES), IN_CONDITION.name, IN_CALL.name, HELD_IN_CALL.name))
SPECIALIZATION = "symbolic_shape_specialization"
"""The kind of torch's record of a symbol that it replaced by a number."""
Change: TypeAlias = frozenset[_Pair]
"""Pairs of the expected and the actual number or string; for a state, only its name."""


@dataclass(frozen=True, slots=True)
class Cause:
    """The recompiles of a function for one cause, with the refusal of the nearest entry each time."""

    function: Function
    kind: Kind
    refused: tuple[Refused, ...]
    compiles: tuple[Compile, ...]
    is_first: bool
    """Whether it is the first refusal of an entry. Otherwise another thing was refused each time, too."""
    below: tuple[Cause, ...] = ()
    """The same cause in functions that this one calls, and other values that its line checks."""

    @property
    def step(self) -> int:
        """Return the constant step by which a number grows from each recompile to the next, or 0."""
        return _step(self.refused)

    @property
    def variety(self) -> int:
        """Return the number of new values among those that were refused. A state of the process has only two.

        A value without a literal, such as a function, counts in each recompile: two of them may have the same text.
        """
        if self.refused[0].is_state:
            return 1
        known = {each for one in self.refused for each in (one.expected, one.actual) if literal(each) is not ...}
        others = sum(literal(one.actual) is ... for one in self.refused)
        return max(len(known) - 1 + others, 1)


def causes(session: Session) -> list[Cause]:
    """Return the causes of a run's recompiles. A cause that follows from an outer call is below that call's cause."""
    functions = session.functions
    found = [each for own in functions.values() for each in _causes_of(functions[own.root], own)]
    seen = [_seen(each) for each in found]
    at: dict[tuple[_Place, _Pair], list[int]] = {}
    for index, changes in enumerate(seen):
        for key in {(each.place, pair) for each in changes for pair in each.pairs}:
            at.setdefault(key, []).append(index)
    inside: dict[int, int] = {}
    for index, each in enumerate(found):
        # Compare only with outer causes that changed alike, because a long run has thousands.
        first = seen[index][0]
        outside = (first.place[:length] for length in range(len(first.place) + 1))
        alike = merge(*(at.get(key, ()) for key in product(outside, first.pairs)))
        others = (place for place in alike if not _is_part(found[place].function, each.function))
        outer = next((place for place in others if _follows(seen[index], seen[place])), None)
        if outer is not None:
            inside[index] = outer
    _join_parts(found, seen, inside)
    _join_conditions(found, inside)
    _join_of_line(found, inside)
    below: dict[int, list[Cause]] = {}
    for index in inside:
        outermost = index
        while outermost in inside:
            outermost = inside[outermost]
        below.setdefault(outermost, []).append(found[index])
    return [
        Cause(each.function, each.kind, each.refused, each.compiles, each.is_first, tuple(below.get(index, ())))
        for index, each in enumerate(found)
        if index not in inside
    ]


def _is_part(function: Function, whole: Function) -> bool:
    """Return whether a function is another one, or its resume function, which that one does not call."""
    return function is whole or (function.is_resume and not whole.is_resume and function.root == whole.root)


def _join_parts(found: list[Cause], seen: list[list[_Seen]], inside: dict[int, int]) -> None:
    """Put a cause in resume functions under the same cause in their function, in whatever order they occurred."""
    first: dict[tuple[str, str, str, Change], int] = {}
    for index in sorted(range(len(found)), key=lambda each: found[each].function.is_resume):
        cause, pairs = found[index], seen[index][0].pairs
        key = (cause.function.root, cause.kind.name, cause.refused[0].subject, pairs)
        if index not in inside and pairs and first.setdefault(key, index) != index:
            inside[index] = first[key]


def _join_conditions(found: list[Cause], inside: dict[int, int]) -> None:
    """Put a condition on a number under the cause that the number decides a branch.

    Once the number is a symbol, entries check the branch's condition instead of the number.
    """
    deciding = {
        (each.function.key, each.refused[0].subject): index
        for index, each in enumerate(found)
        if each.kind.name == IN_CONDITION.name
    }
    for index, cause in enumerate(found):
        why = cause.refused[0]
        numbers = sorted(values_in(parsed(why.subject))) if why.is_condition and index not in inside else ()
        same = [deciding[cause.function.key, each] for each in numbers if (cause.function.key, each) in deciding]
        if same:
            inside[index] = same[0]


def _join_of_line(found: list[Cause], inside: dict[int, int]) -> None:
    """Merge the causes of a line that checks another value each time, such as items of a dict, under the main one.

    A number that torch compiles separately for each value is one cause, whichever lines check it.
    """
    specialized = {(each.function.key, each.refused[0].subject) for each in found if each.kind is SPECIALIZED}
    first: dict[tuple[str, str, str], int] = {}
    for index in sorted(
        range(len(found)), key=lambda each: (found[each].kind is not SPECIALIZED, -len(found[each].compiles))
    ):
        why = found[index].refused[0]
        looked_at = why.subject if found[index].kind is SPECIALIZED else _looked_at(why)
        is_one = (found[index].function.key, looked_at) in specialized
        key = found[index].function.key, looked_at, "" if is_one else why.where
        if index not in inside and looked_at and (is_one or why.where) and first.setdefault(key, index) != index:
            inside[index] = first[key]


def _looked_at(why: Refused) -> str:
    """Return the common part of one line's guards: the container of a number, or the side of `==` that is not a number.

    For items of containers whose lengths a line checks, it is the attribute that holds them.
    """
    if why.aspect == "length" and INDEX.search(why.subject):
        return f"length of {why.subject.rpartition('.')[2]}"
    if why.is_condition:
        return side["side"] if (side := _TO_A_NUMBER.fullmatch(why.subject)) is not None else ""
    is_number = type(literal(why.expected)) in (int, float)
    return why.subject.rpartition("[")[0] if is_number and why.subject.endswith("]") and not why.aspect else ""


def kinds(session: Session) -> Mapping[tuple[int, str], Kind]:
    """Return the kind of the cause of each recompile, by its order and the refused value."""
    found = [each for outermost in causes(session) for each in (outermost, *outermost.below)]
    return {
        (compiled.order, why.subject): each.kind
        for each in found
        for compiled, why in zip(each.compiles, each.refused, strict=True)
    }


def _causes_of(root: Function, function: Function) -> Iterator[Cause]:
    """Yield why a function was recompiled, in the order in which the causes occurred."""
    found: dict[tuple[str, str], list[tuple[Refused, Compile]]] = {}
    kinds: dict[tuple[str, str], Kind] = {}
    firsts: set[tuple[str, str]] = set()
    for compiled in function.compiles:
        told = nearest(compiled.trigger) if isinstance(compiled.trigger, Recompile) else None
        if told is None or (compiled.failure is not None and is_limit(compiled.failure)):
            continue
        # A value that a graph break leaves on the stack is no cause of its own, because the break is a finding.
        for number, reason in enumerate(each for each in told.reasons if not each.subject.startswith(STACK)):
            kind = kind_of_recompile(reason, function.parameters, root.source)
            if kind.name in _HELD and _decides_inside(function, reason, compiled):
                kind = IN_CONDITION
            key = kind.name, reason.subject
            kinds[key] = kind
            found.setdefault(key, []).append((reason, compiled))
            if number == 0:
                firsts.add(key)
    compared = {_looked_at(told[0][0]): told[0][0].where for told in found.values() if told[0][0].is_condition}
    effects = [each for compiled in function.compiles for each in compiled.effects]
    for key, told_of in found.items():
        kind = _specialized(kinds[key], key[1], told_of, compared)
        if kind is SPECIALIZED:
            # The line that compares the number needs its value. The first line that reads it may not.
            told_of = [(replace(each, where=compared[key[1]] or each.where), compiled) for each, compiled in told_of]
        refused, compiles = zip(*told_of, strict=True)
        yield Cause(function, _grown(kind, refused, effects), refused, compiles, key in firsts)


def _decides_inside(function: Function, refused: Refused, compiled: Compile) -> bool:
    """Return whether a branch or a loop depends on a number, in the inlined function whose line reads the number."""
    place, _, text = refused.where.partition(" ")
    name, _, line = place.rpartition(":")
    if not line.isdigit() or refused.subject not in text:
        return False
    name = name or os.path.basename(function.filename)
    read = [each for each in compiled.lines if os.path.basename(each.filename) == name and int(line) in each.read]
    return any(refused.subject in each.deciding for each in read)


def _specialized(
    kind: Kind, subject: str, told_of: Collection[tuple[Refused, Compile]], compared: Mapping[str, str]
) -> Kind:
    """Return the kind for a number or size that torch compiles separately; `compared` are the numbers in conditions."""
    if subject in compared and (kind is IN_CALL or kind.name in _HELD):
        return SPECIALIZED
    return SIZE_SPECIALIZED if kind is TENSORS["size"] and all(_keeps_size(*each) for each in told_of) else kind


def _keeps_size(refused: Refused, compiled: Compile) -> bool:
    """Return whether torch made a symbol of each dimension that changed, and replaced the symbol by the number.

    torch records the replacement when a call or a loop needs the number. The new entry then requires the number.
    """
    numbers = {each.detail for each in compiled.shapes if each.kind == SPECIALIZATION}
    changed = list(changed_dimensions(refused))
    return bool(changed) and all(str(actual) in numbers for _, actual in changed)


def _grown(kind: Kind, refused: tuple[Refused, ...], effects: Collection[SideEffect]) -> Kind:
    """Return the kind of a refused value, with growth mentioned after the sentence that every view shows."""
    is_changed = any(_is_of(each.source, refused[0]) for each in effects)
    if is_changed and kind.name.endswith("-none") and all(literal(each.expected) is None for each in refused):
        return SET_IN_CALL
    found = _growth(kind, refused, is_changed=is_changed)
    growth = "".join(found.cause.partition(";")[1:])
    return kind if found is kind else replace(found, cause=kind.cause.partition(";")[0] + growth)


def _growth(kind: Kind, refused: tuple[Refused, ...], *, is_changed: bool) -> Kind:
    """Return the kind for growth, if a number or a length grows by a constant step from call to call.

    is_changed: whether the compiled function itself changes the value.
    """
    if kind.name in _NUMBERS and (_step(refused) or (is_changed and _rises(refused))):
        return COUNTER_IN_CONDITION if kind is IN_CONDITION else COUNTER
    if kind.name == KEYS.name:
        numbers = tuple(each for each in refused if each.aspect == NUMBER_OF_KEYS)
        return GROWTH if _step(numbers) or (is_changed and _rises(numbers)) else kind
    # A list that is created for each call does not grow. One that outlives calls, or that the function changes, may
    # grow.
    may_grow = kind.name.endswith("-length") and (kind.name != "argument-length" or is_changed)
    return GROWTH if may_grow and (_step(refused) or _rises(refused)) else kind


def _is_of(source: str, refused: Refused) -> bool:
    """Return whether an object that a compiled function changes is the refused one, or holds it."""
    return spelled(source) in (refused.subject, refused.subject.rpartition(".")[0])


def _rises(refused: tuple[Refused, ...]) -> bool:
    """Return whether a number became higher from recompile to recompile, and in none lower."""
    numbers = _numbers(refused)
    return bool(numbers) and sorted(numbers) == numbers and numbers[0] < numbers[-1]


def _step(refused: tuple[Refused, ...]) -> int:
    numbers = _numbers(refused)
    steps = {second - first for first, second in zip(numbers, numbers[1:], strict=False)}
    return steps.pop() if len(steps) == 1 else 0


def _numbers(refused: tuple[Refused, ...]) -> list[int]:
    """Return the first expected number and all actual ones, or [] if there are fewer than three or others."""
    values = [literal(each) for each in (*(each.expected for each in refused[:1]), *(each.actual for each in refused))]
    numbers = [each for each in values if type(each) is int]
    return numbers if 3 <= len(numbers) == len(values) else []


@dataclass(frozen=True, slots=True)
class _Seen:
    """A recompile for a cause: its position among all, the call it came from, and what changed."""

    order: int
    place: _Place
    pairs: Change


def _seen(cause: Cause) -> list[_Seen]:
    return [
        _Seen(compiled.order, _places(compiled), _change(refused))
        for compiled, refused in zip(cause.compiles, cause.refused, strict=True)
    ]


def _follows(cause: Sequence[_Seen], outer: Sequence[_Seen]) -> bool:
    """Return whether each recompile of a cause occurred in a call that had recompiled an outer function for it."""
    return all(
        any(
            one.order < own.order and own.place[: len(one.place)] == one.place and one.pairs & own.pairs
            for one in outer
        )
        for own in cause
    )


def _change(refused: Refused) -> Change:
    """Return which numbers, strings or states changed; nothing for a value that has only two states."""
    if refused.is_state or refused.is_mode:
        return frozenset((("training" if refused.is_mode else refused.source, ""),))
    if refused.aspect == "size":
        return frozenset(changed_dimensions(refused))
    expected, actual = literal(refused.expected), literal(refused.actual)
    if type(expected) is type(actual) and isinstance(expected, (int, float, str)) and not isinstance(expected, bool):
        return frozenset(((expected, actual),))
    return frozenset()


def _places(compiled: Compile) -> _Place:
    return tuple((line.filename, line.line) for line in compiled.user_stack if not is_of_torch(line.filename))
