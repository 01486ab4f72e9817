"""Findings as one line each, in the form of a compiler's messages, which editors understand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from depyf.findings import Finding

WORDS = {"high": "error", "medium": "warning", "low": "info"}
"""The word for each severity in the messages of compilers."""
NO_FILE = "depyf"
"""The name in place of a file, for a finding without a place."""


def message_lines(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield `file:line: severity: cause. Fix: ... [kind]` for each finding."""
    for finding in findings:
        place = NO_FILE if finding.where is None else f"{finding.where.file}:{max(finding.where.line, 1)}"
        fix = f" Fix: {finding.fix}" if finding.fix else ""
        tried = f" Tried: {finding.tried}" if finding.tried else ""
        text = " ".join(f"{finding.cause}.{fix}{tried}".split())
        yield f"{place}: {WORDS[finding.severity]}: {text} [{finding.kind}]"
