"""The sentences and the advice of a kind of recompile, with the values of the call."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from depyf.findings.catalogue.classify import (
    NONE_TYPE,
    changed_dimension,
    device_of,
    holder_of,
    kind_of_recompile,
    marked_dimensions,
)
from depyf.findings.catalogue.kind import Kind
from depyf.findings.catalogue.recompiles import DEFAULTS
from depyf.model.guard_failure import Check, GuardFailure
from depyf.model.reproducible import without_addresses
from depyf.model.spelling import spelled

_HINT = re.compile(r"\(HINT: (?P<hint>.*?)\)\s*$", re.DOTALL)
_NAMES_ALONE = re.compile(r"^(?:guard on ['\"][^'\"]*['\"][^\s,]*(?:, )?)?(?:type \S+$)?")
"""The part of a hint that only names a captured variable or a type."""


def advice(failure: GuardFailure, parameters: Collection[str] = (), source: str = "") -> str:
    """Return how to avoid this guard failure in later calls, or "" if there is no advice.

    Args:
        failure: the guard that failed.
        parameters: the names of the function's parameters.
        source: the text of the function.
    """
    return advice_of(kind_of_recompile(failure, parameters, source), failure)


def advice_of(kind: Kind, failure: GuardFailure, step: int = 0) -> str:
    """Return the advice for a kind, or torch's own hint if the catalogue has no tested advice.

    Args:
        kind: the row of the catalogue.
        failure: the guard that failed, with torch's text.
        step: how much an integer grows from call to call; 0 if it does not.
    """
    hint = _HINT.search(failure.text)
    words = _NAMES_ALONE.sub("", hint["hint"]) if hint is not None and not kind.fix else ""
    if words:
        return f"torch: {words}"
    return _filled(kind.fix, kind, failure, step)


def sentence_of(kind: Kind, failure: GuardFailure, step: int = 0) -> str:
    """Return the sentence of the catalogue for a guard failure, without the note after it.

    Args:
        kind: the row of the catalogue.
        failure: the guard that failed.
        step: how much an integer grows from call to call; 0 if it does not.
    """
    return _filled(kind.cause, kind, failure, step)


def note_of(kind: Kind, failure: GuardFailure, step: int = 0) -> str:
    """Return the note of the catalogue about a guard failure, or "".

    Args:
        kind: the row of the catalogue.
        failure: the guard that failed.
        step: how much an integer grows from call to call; 0 if it does not.
    """
    return _filled(kind.note, kind, failure, step)


def _filled(template: str, kind: Kind, failure: GuardFailure, step: int) -> str:
    """Return a template with the parts of a guard failure, without unknown values."""
    failure = _without_addresses(failure)
    is_held = template in (DEFAULTS.cause, DEFAULTS.fix)
    subject = (holder_of(failure) if is_held else "") or failure.subject
    value = f"`{subject}` ({kind.place_words})" if kind.place_words else f"`{subject}`"
    expected, actual = _plain(failure.expected), _plain(failure.actual)
    if failure.check is Check.DISPATCH_KEYS and device_of(expected) != device_of(actual):
        expected, actual = device_of(expected), device_of(actual)
    return template.format(
        subject=subject,
        value="the value carried over the graph break" if kind.is_carried else value,
        named="carried over the graph break" if kind.is_carried else value,
        change=_change_words(expected, actual),
        device_change=_change_words(expected, actual, "on "),
        expected=expected,
        actual=actual,
        dimension=changed_dimension(failure),
        dimensions=marked_dimensions(failure),
        step=f" by {step}" if step else "",
        values=_values(failure),
        text=failure.text or failure.words,
        item=f"{failure.check.value} {failure.item}",
    )


def _without_addresses(failure: GuardFailure) -> GuardFailure:
    """Return a guard failure whose values are without the addresses of objects."""
    return replace(
        failure,
        expected=_plain_object(failure.expected),
        actual=_plain_object(failure.actual),
        values=tuple((source, _plain_object(value)) for source, value in failure.values),
        text=without_addresses(failure.text),
    )


def _plain_object(value: str) -> str:
    """Return a value without addresses, unless it is a string of the program's, which may contain anything.

    >>> _plain_object("<Pass object at 0x7f613ba8d9e0>"), _plain_object("'at 0x7f613ba8d9e0'")
    ('<Pass>', "'at 0x7f613ba8d9e0'")
    """
    return value if value.lstrip("b")[:1] in ("'", '"') else without_addresses(value)


def _change_words(expected: str, actual: str, preposition: str = "") -> str:
    """Return what a value was, and what the entry expected, as far as they are known."""
    if not actual:
        return f"not {preposition}{expected}" if expected else "another one"
    if actual == expected:
        return f"another {expected} than before"
    return f"{preposition}{actual}, not {preposition}{expected}"


def _values(failure: GuardFailure) -> str:
    """Return the values that a condition is about, as the user would write them."""
    words = " and ".join(f"{spelled(source)} = {value}" for source, value in failure.values)
    return f", with {words}" if words else f", with {failure.actual}" if failure.actual else ""


def _plain(value: str) -> str:
    """Return an expected or actual value as the user would write it: None, if its type is given."""
    return "None" if value == NONE_TYPE else value
