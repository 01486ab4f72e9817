"""Merge findings with the same cause, whichever entries, restarts or processes show it, and sort them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from depyf.findings.catalogue.others import LIMIT
from depyf.model.finding import SEVERITIES, Cost, Finding


def merged(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings, merged by cause, in reading order.

    The order is the same for two runs of one program, because it depends on counts and never on seconds.
    """
    found_once: dict[object, Finding] = {}
    for finding in found:
        key = finding.kind, finding.where, finding.cause
        found_once[key] = joined(found_once[key], finding) if key in found_once else finding
    return tuple(sorted(found_once.values(), key=_rank))


_FAILURES = ("unfinished", "failure", "call-failure")
"""Kinds that come before the others of their severity: they may have ended the program."""


def _rank(found: Finding) -> tuple[int, bool, int, int]:
    eager = found.cost.eager_calls
    # Some calls past the limit ran eagerly, also where Python offers no way to count them.
    eager = int(found.kind == LIMIT.name) if eager is None else eager
    return SEVERITIES.index(found.severity), found.kind not in _FAILURES, -eager, -found.cost.compiles


def joined(one: Finding, other: Finding) -> Finding:
    """Return a finding with the cost and the compiles of another one added."""
    eager = [each.cost.eager_calls for each in (one, other) if each.cost.eager_calls is not None]
    cost = Cost(
        sum(eager) if eager else None,
        round(one.cost.compile_seconds + other.cost.compile_seconds, 6),
        one.cost.compiles + other.cost.compiles,
    )
    return replace(one, cost=cost, compiles=tuple(dict.fromkeys((*one.compiles, *other.compiles))))
