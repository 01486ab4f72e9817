"""Find out why a function was recompiled: the refusals of the nearest entry, without consequences.

One change can make several guards of an entry fail. Examples are a size and the dependent strides, the same dimension
of several tensors, and a dict's keys and its missing items. The number of independent changes counts. The entry with
the fewest of them is the nearest, and every view shows that entry.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

from depyf.bytecode.records import dataclass
from depyf.model.refused import Refused, refused
from depyf.model.run import Recompile, Refusal

INDEX = re.compile(r"\[\d+\]")
"""The part that distinguishes items of one container."""
MOST_READ = 1024
"""The number of recompiles whose reason is cached, because each view of a run asks for it."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """The nearest entry: its independent refusals, of which the first is the reason.

    folded: the refusals of this entry that follow from these.
    others: the number of entries that are further away.
    """

    entry: str
    reasons: tuple[Refused, ...]
    folded: int
    others: int


@functools.lru_cache(maxsize=MOST_READ)
def nearest(trigger: Recompile) -> Nearest | None:
    """Return the entry with the fewest independent refusals, the newest if there are several, or None if none is known.

    An entry whose refusals are all known comes before one for which torch names only the first. Among the latter, an
    entry that refused a value is nearer than one that refused the state around the call, which guards check first.
    """
    told = [(each, refused(each)) for each in reversed(trigger.refusals)]
    found = [(refusal, all_of, tuple(independent(all_of))) for refusal, all_of in told if all_of]
    if not found:
        return None
    refusal, all_of, reasons = min(found, key=_distance)
    total = sum(len(each) for _, each, _ in found)
    return Nearest(refusal.entry, reasons, len(all_of) - len(reasons), total - len(all_of))


def _distance(found: tuple[Refusal, list[Refused], tuple[Refused, ...]]) -> tuple[bool, int, bool]:
    refusal, all_of, reasons = found
    return not refusal.explained, len(reasons), not refusal.explained and all_of[0].is_state


def independent(found: list[Refused]) -> Iterator[Refused]:
    """Yield the refusals of an entry that do not follow from another one."""
    if len(found) == 1:
        yield from found
        return
    aspects = {(each.source, each.aspect) for each in found}
    states = {each.source for each in found if each.is_state}
    dimensions: set[tuple[object, object]] = set()
    changes: set[tuple[str, ...]] = set()
    for each in found:
        if each.aspect == "size":
            changed = set(changed_dimensions(each))
            if changed and changed <= dimensions:
                continue
            dimensions |= changed
        change = _change(each)
        if change in changes or _follows(each, aspects, states) or _is_shape_clause(each, dimensions):
            continue
        if change:
            changes.add(change)
        yield each


def _change(each: Refused) -> tuple[str, ...]:
    """Return what refusals of one change in several values have in common, or () for a single one.

    Modules change their mode together, and tensors their dtype and device; so do items of one container in one line.
    """
    if each.is_mode:
        return ("training",)
    if each.aspect in ("dtype", "device"):
        return each.aspect, each.expected, each.actual
    if each.where and INDEX.search(each.subject):
        return INDEX.sub("[]", each.subject), each.aspect, each.expected, each.actual, each.where
    return ()


def _follows(each: Refused, aspects: set[tuple[str, str]], states: set[str]) -> bool:
    """Return whether a refusal follows from another one of the same entry."""
    match each.aspect:
        case "stride" | "length":
            return (each.source, "size") in aspects
        case "dispatch keys":
            return bool(states) or (each.source, "type") in aspects or (each.source, "device") in aspects
        case "dtype":
            return "default_dtype" in states
        case "requires_grad":
            return "grad_mode" in states or (each.source, "type") in aspects
    inside = [source for source, aspect in aspects if source and aspect in ("", "type", "length")]
    return any(each.source != source and each.source.startswith((f"{source}[", f"{source}.")) for source in inside)


def changed_dimensions(each: Refused) -> Iterator[tuple[object, object]]:
    """Yield the expected and the actual value of each dimension of a size that differs."""
    expected, actual = literal(each.expected), literal(each.actual)
    if isinstance(expected, tuple) and isinstance(actual, tuple) and len(expected) == len(actual):
        yield from ((one, other) for one, other in zip(expected, actual, strict=True) if one != other)


def _is_shape_clause(each: Refused, dimensions: set[tuple[object, object]]) -> bool:
    """Return whether a refusal is a relation between sizes, and a size is refused anyway."""
    return bool(dimensions) and (each.is_dimension or ".size()" in each.source or ".shape" in each.source)


@functools.lru_cache(maxsize=MOST_READ)
def literal(text: str) -> object:
    """Return the value of a Python literal, or `...` for other text. The value must not be changed."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return ...
