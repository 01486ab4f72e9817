"""Numbers that torch compiles separately although it made a symbol of them, with all their values.

    entry 0: count is 0     entry 1: count is an integer, and `count == 1`     entry 2: count is an integer, and ...

The guard of the first entry checks the value, and those of the others check a condition on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from depyf.findings.catalogue.recompiles import GROWS, SPECIALIZED
from depyf.findings.causes import Cause
from depyf.model.guard_failure import GuardFailure, literal
from depyf.model.run import Compile
from depyf.model.spelling import spelled

_EQUALS = " == "


def with_all_values(cause: Cause) -> Cause:
    """Return a cause with the values of the conditions on it, in the order of the recompiles, and with its growth.

    Args:
        cause: a cause of any kind; only one for a number that torch compiles separately changes.
    """
    if cause.kind.name != SPECIALIZED.name or cause.failures[0].is_condition:
        return cause
    pairs = [*zip(cause.compiles, cause.failures, strict=True), *_of_conditions(cause)]
    pairs.sort(key=lambda pair: pair[0].order)
    compiles, failures = zip(*pairs, strict=True)
    whole = replace(cause, compiles=compiles, failures=failures)
    return replace(whole, kind=replace(cause.kind, note=f"{GROWS}, and {cause.kind.note}")) if whole.step else whole


def _of_conditions(cause: Cause) -> Iterator[tuple[Compile, GuardFailure]]:
    """Yield the recompiles for conditions such as `count == 1`, each as a failure of the number itself."""
    main = cause.failures[0]
    for part in cause.below:
        for compiled, failure in zip(part.compiles, part.failures, strict=True):
            source, _, number = failure.source.rpartition(_EQUALS)
            actual = next((value for name, value in failure.values if spelled(name) == main.subject), "")
            is_number = type(literal(number)) is int and type(literal(actual)) is int
            if part.function is cause.function and source == main.source and is_number:
                yield compiled, replace(main, expected=number, actual=actual)
