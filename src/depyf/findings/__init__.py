"""The findings of a run: what failed, ran eagerly or was recompiled; each cause once, worst first."""

from __future__ import annotations

from dataclasses import replace

from depyf.findings.breaks import of_breaks
from depyf.findings.bypassed import of_bypassed
from depyf.findings.caches import of_caches
from depyf.findings.consequences import with_carried, with_consequences
from depyf.findings.cuda_graphs import of_cuda_graphs
from depyf.findings.drawn import of_drawn
from depyf.findings.failures import of_call_failures, of_failures, of_unfinished
from depyf.findings.marks import of_marks
from depyf.findings.merge import merged
from depyf.findings.recompiles import of_recompiles
from depyf.findings.repeats import of_repeats
from depyf.findings.skipped import of_skipped
from depyf.model.finding import SEVERITIES, Cost, Finding, Severity, Where
from depyf.model.run import Session

__all__ = ["SEVERITIES", "Cost", "Finding", "Severity", "Where", "findings", "merged"]

SOURCES = (
    of_unfinished,
    of_failures,
    of_call_failures,
    of_recompiles,
    of_breaks,
    of_bypassed,
    of_marks,
    of_skipped,
    of_cuda_graphs,
    of_caches,
    of_repeats,
    of_drawn,
)
"""The functions that look for findings. Each yields them in the order of the run."""


def findings(session: Session) -> tuple[Finding, ...]:
    """Return the findings of a run, the most expensive first, with the results of what `depyf fix` tried.

    A session whose index was written at its end keeps its findings, and a session that was read has those of its index.
    """
    kept = session.findings
    if kept is None:
        everything = [finding for source in SOURCES for finding in source(session)]
        kept = with_carried(session, merged(with_consequences(session, everything)))
    if not session.tried:
        return kept
    return tuple(replace(finding, tried=session.tried.get((finding.kind, str(finding.where)), "")) for finding in kept)
