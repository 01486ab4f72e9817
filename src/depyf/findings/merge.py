"""Merge findings with the same cause, whichever entries, restarts or processes show it, and sort them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from depyf.findings.catalogue.others import LIMIT
from depyf.model.finding import SEVERITIES, Cost, Finding


def merged(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings, merged by cause, in reading order.

    The order is the same for two runs of one program, because it depends on counts and never on seconds.
    """
    found_once: dict[object, Finding] = {}
    for finding in findings:
        key = finding.kind, finding.where, finding.cause
        found_once[key] = joined(found_once[key], finding) if key in found_once else finding
    return tuple(sorted(found_once.values(), key=_rank))


_FAILURES = ("unfinished", "failure", "call-failure")
"""Kinds that come before the others of their severity: they may have ended the program."""


def _rank(finding: Finding) -> tuple[int, bool, int, int]:
    eager = finding.cost.eager_calls
    # Some calls past the limit ran eagerly, also where Python offers no way to count them.
    eager = int(finding.kind == LIMIT.name) if eager is None else eager
    return SEVERITIES.index(finding.severity), finding.kind not in _FAILURES, -eager, -finding.cost.compiles


def joined(first: Finding, other: Finding) -> Finding:
    """Return a finding with the cost and the compiles of another one added."""
    eager = [finding.cost.eager_calls for finding in (first, other) if finding.cost.eager_calls is not None]
    cost = Cost(
        sum(eager) if eager else None,
        round(first.cost.compile_seconds + other.cost.compile_seconds, 6),
        first.cost.compiles + other.cost.compiles,
    )
    return replace(first, cost=cost, compiles=tuple(dict.fromkeys((*first.compiles, *other.compiles))))
