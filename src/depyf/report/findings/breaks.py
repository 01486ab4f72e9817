"""Places where graphs end."""

from __future__ import annotations

from collections.abc import Iterator

from depyf.report.findings.failures import cost_of, place
from depyf.report.findings.model import Finding
from depyf.report.model import Session, UserLine


def of_breaks(session: Session) -> Iterator[Finding]:
    """Yield a finding for each compile that came to a graph break."""
    for function, compiled in session.compiles():
        for found in compiled.breaks:
            line = found.where or UserLine(function.filename, function.first_line, "", function.name)
            cause = f"Graph break: {' '.join(found.reason.split()).rstrip('.')}"
            fix = found.hints[0] if found.hints else ""
            yield Finding("graph-break", "medium", place(line), cause, cost_of(compiled), fix, (str(compiled.id),))
