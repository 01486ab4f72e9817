"""The finding about each recompile, so that all views give the same cause and the same fix."""

from __future__ import annotations

from depyf.findings import Finding, findings
from depyf.findings.recompiles import of_recompiles
from depyf.model.run import Session


def recompile_findings(session: Session) -> dict[str, Finding]:
    """Return the finding about each recompile, by the id of the compile."""
    keys = {(finding.kind, finding.where) for finding in of_recompiles(session)}
    about = [finding for finding in findings(session) if (finding.kind, finding.where) in keys]
    return {compiled: finding for finding in reversed(about) for compiled in finding.compiles}
