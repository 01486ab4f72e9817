"""The cost of findings in each step: for a graph break, its gap and the guards of the resume function."""

from __future__ import annotations

from depyf.bytecode.records import dataclass
from depyf.findings import Finding, findings
from depyf.links.profile.charges import BACKWARD, KERNEL, OPTIMIZER
from depyf.links.profile.model import Profile
from depyf.model.run import Session

_WORK = frozenset((KERNEL, BACKWARD, OPTIMIZER))
"""Work that a step would do without the finding, too."""


@dataclass(frozen=True, slots=True)
class Priced:
    """A finding, and the seconds per step that are charged to its line and are not work of a compiled graph."""

    finding: Finding
    seconds: float


def priced_findings(session: Session, profile: Profile) -> list[Priced]:
    """Return the findings of a run, the most expensive in each step first."""
    priced = [Priced(finding, _seconds(finding, profile)) for finding in findings(session)]
    return sorted(priced, key=lambda finding: -finding.seconds)


def _seconds(finding: Finding, profile: Profile) -> float:
    if finding.where is None:
        return 0.0
    line = finding.where.file, finding.where.line
    return sum(
        cost.seconds for cost in profile.costs if cost.charge.lines == {line} and cost.charge.kind not in _WORK
    )
