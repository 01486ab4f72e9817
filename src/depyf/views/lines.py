"""Findings as one line each, in the form of a compiler's messages, which editors understand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from depyf.findings import Finding

WORDS = {"high": "error", "medium": "warning", "low": "info"}
"""The word for each severity in the messages of compilers."""
NO_FILE = "depyf"
"""The name in place of a file, for a finding without a place."""


def message_lines(found: Iterable[Finding]) -> Iterator[str]:
    """Yield `file:line: severity: cause. Fix: ... [kind]` for each finding."""
    for each in found:
        place = NO_FILE if each.where is None else f"{each.where.file}:{max(each.where.line, 1)}"
        fix = f" Fix: {each.fix}" if each.fix else ""
        tried = f" Tried: {each.tried}" if each.tried else ""
        text = " ".join(f"{each.cause}.{fix}{tried}".split())
        yield f"{place}: {WORDS[each.severity]}: {text} [{each.kind}]"
