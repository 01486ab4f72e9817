"""Functions that changed: another one in the place of the first, or the same code with another captured value."""

from __future__ import annotations

import re
from dataclasses import replace

from depyf.findings.catalogue.kind import Kind
from depyf.findings.catalogue.recompiles import CAPTURED, DEFAULTS, EACH_VALUE
from depyf.model.guard_failure import Check, GuardFailure

_BRANCHES = re.compile(r"^(el)?if\b|^(for|while|assert|match)\b|\bif\b.*\belse\b")
"""A line with a branch or a loop."""


def kind_of_captured(failure: GuardFailure) -> Kind:
    """Return the kind of a default or a captured variable that changed, with the fix for its value.

    No function that is defined once has another number or string in each call.
    """
    values = (failure.expected_value, failure.actual_value)
    if not all(isinstance(value, (int, float, str)) for value in values):
        return DEFAULTS
    if isinstance(values[0], bool) or (failure.line is not None and _BRANCHES.search(failure.line.text)):
        return replace(DEFAULTS, fix="", note=EACH_VALUE)
    place = "__closure__" if "__closure__" in failure.source else "__defaults__"
    return replace(DEFAULTS, fix=CAPTURED[place, str if isinstance(values[0], str) else int])


def is_another_function(failure: GuardFailure) -> bool:
    """Return whether a function was in the place of another one: of another name, or a lambda in another line."""
    names = [text.removeprefix("code of ").partition(" (")[0] for text in (failure.expected, failure.actual)]
    is_known = failure.check is Check.FUNCTION and all(names)
    return is_known and (names[0] != names[1] or (names[0] == "<lambda>" and failure.expected != failure.actual))
