"""The findings of a run: what failed, ran eagerly or was recompiled; each cause once, worst first."""

from __future__ import annotations

from dataclasses import replace

from depyf.report.findings.breaks import of_breaks
from depyf.report.findings.caches import of_caches
from depyf.report.findings.cuda_graphs import of_cuda_graphs
from depyf.report.findings.failures import of_failures, of_unfinished
from depyf.report.findings.merge import merged
from depyf.report.findings.model import SEVERITIES, Cost, Finding, Severity, Where
from depyf.report.findings.recompiles import of_recompiles
from depyf.report.findings.skipped import of_skipped
from depyf.report.model import Session
from depyf.report.reproducible import without_addresses

__all__ = ["SEVERITIES", "Cost", "Finding", "Severity", "Where", "findings", "merged"]

SOURCES = (of_unfinished, of_failures, of_recompiles, of_breaks, of_skipped, of_cuda_graphs, of_caches)
"""The functions that look for findings. Each yields them in the order of the run."""


def findings(session: Session) -> tuple[Finding, ...]:
    """Return the findings of a run, the most expensive first."""
    found = (each for source in SOURCES for each in source(session))
    return merged(replace(each, cause=without_addresses(each.cause)) for each in found)
