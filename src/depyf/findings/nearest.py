"""Find out why a function was recompiled: the guard failures of the nearest entry, without consequences.

One change can make several guards of an entry fail. Examples are a size and the dependent strides, the same dimension
of several tensors, and a dict's keys and its missing items. The number of independent changes counts. The entry with
the fewest of them is the nearest, and every view shows that entry.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from depyf.bytecode.records import dataclass
from depyf.findings.catalogue.classify import STACK
from depyf.model.guard_failure import Check, GuardFailure
from depyf.model.run import Compile, FailedEntry, Function, GuardSet, Recompile
from depyf.model.spelling import root_name, spelled, without_strings

INDEX = re.compile(r"\[\d+\]")
"""The part that distinguishes items of one container."""
PARAMETERS = "_parameters"
"""The part of torch's expressions for the parameters of modules."""
MODULES = "_modules"
"""The part of torch's expressions for the modules in a module."""
TRANSFORMS = "functorch"
"""depyf's name for the state of transforms of `torch.func` around a call."""
MOST_READ = 1024
"""The number of recompiles whose reason is cached, because each view of a run asks for it."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """The nearest entry: its independent guard failures, of which the first is the reason.

    folded: the number of failures of this entry that follow from these.
    others: the number of failures of entries that are further away.
    """

    entry: str
    reasons: tuple[GuardFailure, ...]
    folded: int
    others: int


def nearest_entry(function: Function, compiled: Compile) -> Nearest | None:
    """Return the entry with the fewest independent failures, the newest if there are several, or None if none is known.

    An entry whose failures are all known comes before one for which torch names only the first. Among the latter, an
    entry that failed for a value is nearer than one that failed for the state around the call, which guards check
    first. Of entries with equally many failures, one that failed for a new value comes first:

        entry 0: mode is "sample", n is 4      entry 1: mode is "score", `n` is not read
        call: mode is "sample", n is 6         `n` is the cause, because entry 0 has this `mode`
    """
    trigger = compiled.trigger
    if not isinstance(trigger, Recompile):
        return None
    return nearest(trigger, _met(function, trigger) if _is_tied(trigger) else frozenset())


@functools.lru_cache(maxsize=MOST_READ)
def nearest(trigger: Recompile, met: frozenset[_Met] = frozenset()) -> Nearest | None:
    """Return the nearest entry; `met` are the values that some entry expects as they are, and those but for a size."""
    candidates = _candidates(trigger)
    if not candidates:
        return None
    entry, failures, reasons = min(
        candidates,
        key=lambda candidate: (
            _distance(candidate),
            sum((failure.source, failure.check in _SIZES) in met for failure in candidate[2]),
        ),
    )
    total = sum(len(failures) for _, failures, _ in candidates)
    return Nearest(entry.entry, reasons, len(failures) - len(reasons), total - len(failures))


_SIZES = (Check.SIZE, Check.DIMENSION, Check.STRIDE)
_Met: TypeAlias = tuple[str, bool]
"""torch's expression for a value that an entry expects as it is, and whether that includes its size."""
_Candidate: TypeAlias = tuple[FailedEntry, list[GuardFailure], tuple[GuardFailure, ...]]
"""An entry with all its guard failures, and the independent ones."""


def _candidates(trigger: Recompile) -> list[_Candidate]:
    """Return the entries whose failures are known, the newest first."""
    known = [(entry, guard_failures(entry)) for entry in reversed(trigger.entries) if entry.failures]
    return [(entry, failures, tuple(independent(failures))) for entry, failures in known]


@functools.lru_cache(maxsize=MOST_READ)
def _is_tied(trigger: Recompile) -> bool:
    """Return whether several entries came equally near, and failed for different values."""
    candidates = _candidates(trigger)
    least = min(map(_distance, candidates), default=None)
    sources = {frozenset(each.source for each in found[2]) for found in candidates if _distance(found) == least}
    return len(sources) > 1


def _met(function: Function, trigger: Recompile) -> frozenset[_Met]:
    """Return the values that an earlier entry has guards on, none of which failed, or of which only the size failed."""
    guards = {str(compiled.id): compiled.guards for compiled in function.compiles}
    met: set[_Met] = set()
    for entry in trigger.entries:
        guarded = guards.get(entry.entry)
        if entry.is_complete and isinstance(guarded, GuardSet):
            sources = {guard.source for guard in guarded.guards}
            failed = {failure.source for failure in entry.failures}
            others = {failure.source for failure in entry.failures if failure.check not in _SIZES}
            met |= {(source, True) for source in sources - failed} | {(source, False) for source in sources - others}
    return frozenset(met)


def _distance(candidate: _Candidate) -> tuple[bool, int, bool]:
    entry, failures, reasons = candidate
    differences = len(reasons) + _is_in_another_context(failures)
    return not entry.is_complete, differences, not entry.is_complete and failures[0].check is Check.STATE


def _is_in_another_context(failures: Sequence[GuardFailure]) -> bool:
    """Return whether only one of two calls was inside `with torch.device(...)`, although their modes are equal.

    A default device is a mode, too. If only one call had one, equal modes mean that the other call was in a context.
    """
    states = {failure.source: failure for failure in failures if failure.check is Check.STATE}
    device = states.get("default_device")
    if device is None or "torch_function_modes" in states:
        return False
    return (device.expected_value is None) != (device.actual_value is None)


def guard_failures(entry: FailedEntry) -> list[GuardFailure]:
    """Return the guard failures of an entry.

    torch's state `grad_mode` differs under `inference_mode`, too. The dispatch keys of a tensor show which one it was.
    The guard on transforms of `torch.func` has no value of the program, only torch's text.
    """
    failures = [_understood(failure) for failure in entry.failures]
    failures = [failure for failure in failures if not _has_no_value(failure)] or failures
    if any(map(_is_of_inference, failures)):
        return [
            replace(failure, source="inference_mode")
            if failure.check is Check.STATE and failure.source == "grad_mode"
            else failure
            for failure in failures
        ]
    return failures


def _understood(failure: GuardFailure) -> GuardFailure:
    """Return a guard failure with what it is about: a transform of `torch.func`, or an attribute.

    torch guards on the keys of an object's `__dict__` where the class has an attribute of that name, too.
    """
    if not failure.source and "compare_functorch_state" in failure.text:
        return replace(failure, source=TRANSFORMS, check=Check.STATE)
    if failure.check is Check.KEY and failure.source.endswith(_OF_OBJECT) and failure.guard == "DICT_CONTAINS":
        return replace(failure, source=failure.source.removesuffix(_OF_OBJECT), check=Check.ATTRIBUTE)
    return failure


_OF_OBJECT = ".__dict__"
_EXCEPTION = re.compile(r"\w+Error: ")


def _has_no_value(failure: GuardFailure) -> bool:
    """Return whether a condition raised an exception, because another guard's value was None or of another class."""
    return failure.is_condition and _EXCEPTION.match(failure.actual) is not None


def _is_of_inference(failure: GuardFailure) -> bool:
    """Return whether only one of the expected and the actual tensor was made under `inference_mode`."""
    keys = ("ADInplaceOrView" in text for text in (failure.expected, failure.actual))
    same_device = failure.expected.split(",")[0] == failure.actual.split(",")[0].removesuffix("'")
    return failure.check is Check.DISPATCH_KEYS and len(set(keys)) == 2 and same_device


def independent(failures: Sequence[GuardFailure]) -> Iterator[GuardFailure]:
    """Yield the guard failures of an entry that do not follow from another one.

    A named value explains a value of the same size that a graph break leaves on the stack: the user can change it.
    """
    failures = _without_offsets(failures)
    if len(failures) == 1:
        yield from failures
        return
    respects = {(failure.source, failure.check) for failure in failures}
    states = {failure.source: failure for failure in failures if failure.check is Check.STATE}
    dimensions = {pair for failure in failures for pair in _pairs(failure)}
    changes: set[tuple[object, ...]] = set()
    for failure in _of_new_sizes(failures):
        change = _change(failure)
        if change in changes or _follows(failure, respects, states) or _is_shape_clause(failure, dimensions, respects):
            continue
        if change:
            changes.add(change)
        yield failure


def _without_offsets(failures: Sequence[GuardFailure]) -> Sequence[GuardFailure]:
    """Return guard failures without those for the place at which views begin, such as `L["x"].storage_offset()`.

    No user chooses that. If an entry has no other guard failure, the first of these stays.
    """
    others = [failure for failure in failures if failure.check is not Check.OFFSET]
    return others or failures[:1]


def _of_new_sizes(failures: Sequence[GuardFailure]) -> Iterator[GuardFailure]:
    """Yield guard failures without those of sizes whose dimensions all differ as those of an earlier tensor do."""
    named = {pair for failure in failures if not _is_carried(failure) for pair in _pairs(failure)}
    seen: dict[bool, set[tuple[object, object]]] = {True: named, False: set()}
    for failure in failures:
        changed, is_carried = _pairs(failure), _is_carried(failure)
        if not changed or not changed <= seen[is_carried]:
            seen[is_carried] = seen[is_carried] | changed
            yield failure


def _is_carried(failure: GuardFailure) -> bool:
    """Return whether a graph break leaves the value on the stack."""
    return root_name(failure.source).startswith(STACK)


def _pairs(failure: GuardFailure) -> set[tuple[object, object]]:
    """Return the expected and the actual size of each dimension that differs."""
    return {(expected, actual) for _, expected, actual in failure.changed_dimensions}


def _change(failure: GuardFailure) -> tuple[object, ...]:
    """Return what failures of one change in several values have in common, or () for a single one.

    Modules change their mode together, and tensors their dtype and device; so do items of one container in one line,
    and the parameters of a module their `requires_grad`.
    """
    if failure.is_mode:
        return ("training",)
    if failure.check in (Check.DTYPE, Check.DEVICE):
        return failure.check, failure.expected, failure.actual
    if failure.check is Check.REQUIRES_GRAD and PARAMETERS in failure.source:
        return failure.check, failure.expected, failure.actual
    if failure.line is not None and INDEX.search(failure.subject):
        place = failure.line.filename, failure.line.line
        return INDEX.sub("[]", failure.subject), failure.check, failure.expected, failure.actual, place
    return ()


def _follows(
    failure: GuardFailure, respects: Collection[tuple[str, Check]], states: Mapping[str, GuardFailure]
) -> bool:
    """Return whether a guard failure follows from another one of the same entry."""
    source = failure.source
    if _is_of_another_class(failure, respects):
        return True
    match failure.check:
        case Check.STATE:
            # `torch.set_default_device` enters a mode, too.
            return source == "torch_function_modes" and "default_device" in states and "DeviceContext" in failure.actual
        case Check.STRIDE | Check.LENGTH:
            return (source, Check.SIZE) in respects
        case Check.DISPATCH_KEYS:
            return bool(states) or (source, Check.TYPE) in respects or (source, Check.DEVICE) in respects
        case Check.DTYPE:
            return "default_dtype" in states and _is_same_dtype(failure, states["default_dtype"])
        case Check.REQUIRES_GRAD:
            return "grad_mode" in states or (source, Check.TYPE) in respects
    return _is_held(source, [name for name, check in respects if name and check in _HOLDING and name != source])


def _is_held(source: str, holders: list[str]) -> bool:
    """Return whether a value is an item or an attribute of one of some others."""
    if not holders:
        return False
    # torch reaches an item of a dict's subclass by `dict.__getitem__(table, "a")`.
    value = spelled(source)
    return any(value.startswith((f"{holder}[", f"{holder}.")) for holder in map(spelled, holders))


def _is_of_another_class(failure: GuardFailure, respects: Collection[tuple[str, Check]]) -> bool:
    """Return whether a guard failure is about a value whose class differs. None has no length and no keys.

    A condition on it, such as `min(64, L["k"]) >= 0`, has no value then.
    """
    others = {name for name, check in respects if name and check in (Check.TYPE, Check.CLASS)}
    if failure.check is Check.CONDITION:
        return any(name in failure.source for name in others)
    return failure.check is not Check.CLASS and (failure.source, Check.CLASS) in respects


_HOLDING = (Check.VALUE, Check.TYPE, Check.CLASS, Check.LENGTH, Check.NUMBER_OF_KEYS, Check.KEYS, Check.KEY)
"""Checks of a value as a whole: if one fails, the checks of its items and attributes fail as a consequence."""


def _is_same_dtype(failure: GuardFailure, default: GuardFailure) -> bool:
    """Return whether a dtype changed as the default dtype did, or the complex dtype that belongs to it."""
    return all(
        dtype in (of_default, _COMPLEX.get(of_default))
        for dtype, of_default in ((failure.expected, default.expected), (failure.actual, default.actual))
    )


_COMPLEX = {"torch.float64": "torch.complex128", "torch.float32": "torch.complex64", "torch.float16": "torch.complex32"}
"""torch's complex dtype for each default dtype that has one."""


def _is_shape_clause(
    failure: GuardFailure, dimensions: Collection[object], respects: Collection[tuple[str, Check]]
) -> bool:
    """Return whether a failure is about a relation between sizes or strides, and one of them differs anyway.

    The condition on a stride `2 <= L["x"].stride()[1]` follows from another stride of `x`.
    """
    source = without_strings(failure.source)
    is_relation = ".size()" in source or ".shape" in source
    if bool(dimensions) and (failure.check is Check.DIMENSION or is_relation):
        return True
    tensors = {spelled(tensor) for tensor in _STRIDE_OF.findall(failure.source)} if failure.is_condition else set()
    return any(check is Check.STRIDE and spelled(tensor) in tensors for tensor, check in respects)


_STRIDE_OF = re.compile(r"([LG]\[\S+?)\.stride\(\)")
"""The tensors of which a condition compares strides."""
