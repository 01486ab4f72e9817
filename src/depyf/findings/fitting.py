"""Fixes that fit the line that needs a value: a flag that the caller computes, and the statement's own name."""

from __future__ import annotations

import re

from depyf.findings.catalogue.classify import place_of
from depyf.findings.catalogue.kind import Change, Place
from depyf.findings.catalogue.recompiles import COUNTER_IN_CONDITION, IN_CONDITION, OF_EACH_OBJECT
from depyf.findings.causes import Cause
from depyf.findings.expected import MANY
from depyf.findings.reasons import Reason
from depyf.model.flags import flag_of
from depyf.model.guard_failure import GuardFailure
from depyf.model.run import Compile, Function, Guard, GuardSet

_EITHER = "the branch or the loop"
_BRANCH = re.compile(r"^(el)?if\b|\bif\b.*\belse\b")
_LOOP = re.compile(r"^(for|while)\b")
_DECIDING = (IN_CONDITION.name, COUNTER_IN_CONDITION.name, OF_EACH_OBJECT.name)
_PINS = ("EQUALS_MATCH", "CONSTANT_MATCH", "ID_MATCH")


def fitted(cause: Cause, reason: Reason, root: Function) -> str:
    """Return the fix of a reason for the line that needs the value.

        if step % 2 == 0:        a call needs the number only for this condition, so the caller can pass a flag

    Args:
        cause: the cause, with all its recompiles.
        reason: the reason that is shown, with the fix for a value of its kind.
        root: the function with the source, if `cause` is in a resume function.
    """
    flag = _flag(cause, reason, root)
    if flag and reason.kind.name == OF_EACH_OBJECT.name:
        return f"compute `{flag}` in `__init__`, and test that flag: it has two values"
    if flag:
        is_passed = place_of(cause.failures[0], cause.function.parameters) in (Place.ARGUMENT, Place.ELEMENT)
        way = "pass it as a flag" if is_passed else "keep it as a flag, which the function tests"
        return f"compute `{flag}` before the call, and {way}: it has two values"
    line = reason.failure.line
    text = line.text if line is not None else ""
    word = "the branch" if _BRANCH.search(text) else "the loop" if _LOOP.search(text) else _EITHER
    return reason.fix.replace(_EITHER, word)


def _flag(cause: Cause, reason: Reason, root: Function) -> str:
    """Return the condition that a caller could compute, or "". Two values need no flag, which has two as well."""
    is_text = reason.kind.change is Change.STRING and not reason.fix
    if len(_orders(cause)) < 2 or cause.is_changed or not (is_text or reason.kind.name in _DECIDING):
        return ""
    return flag_of(reason.failure.subject, root.source)


def _orders(cause: Cause) -> dict[int, Compile]:
    """Return the recompiles of a cause and of the conditions on its value, by their order in the run."""
    parts = [part for part in (cause, *cause.below) if part.function is cause.function]
    return {compiled.order: compiled for part in parts for compiled in part.compiles}


def has_few_entries(cause: Cause, root: Function) -> bool:
    """Return whether the number of entries stays small: one for each outcome of a condition on a symbol.

    After its second value torch treats an integer of the caller's as a symbol, and guards on `step % 2 == 0` instead.

    Args:
        cause: a cause of recompiles.
        root: the function with the source.
    """
    failure = cause.failures[0]
    compiles = _orders(cause)
    if cause.kind.name != IN_CONDITION.name or len(compiles) > MANY + 1 or type(failure.expected_value) is not int:
        return False
    guards = compiles[max(compiles)].guards
    is_pinned = not isinstance(guards, GuardSet) or any(_pins(guard, failure) for guard in guards.guards)
    return not is_pinned and bool(flag_of(failure.subject, root.source))


def _pins(guard: Guard, failure: GuardFailure) -> bool:
    return guard.source == failure.source and guard.kind in _PINS
