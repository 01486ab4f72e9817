"""Places where graphs end."""

from __future__ import annotations

from collections.abc import Iterator

from depyf.report.catalogue import kind_of_break
from depyf.report.findings.failures import cost_of, is_break, place
from depyf.report.findings.model import Finding, Severity
from depyf.report.model import Session, UserLine


def of_breaks(session: Session) -> Iterator[Finding]:
    """Yield a finding for each compile that came to a graph break; for its last one where it was given up there."""
    for function, compiled in session.compiles():
        for found in compiled.breaks:
            line = found.where or UserLine(function.filename, function.first_line, "", function.name)
            kind = kind_of_break(found)
            cause = kind.cause.format(text=" ".join(found.reason.split()).rstrip("."))
            fix = kind.fix or (found.hints[0] if found.hints else "")
            severity: Severity = "medium"
            if is_break(compiled) and found is compiled.breaks[-1]:
                severity, cause = "high", f"{cause}, and the rest of `{function.name}` runs eager"
            yield Finding(kind.name, severity, place(line), cause, cost_of(compiled), fix, (str(compiled.id),))
