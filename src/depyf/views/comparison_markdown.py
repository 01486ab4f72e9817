"""The changes between two runs as Markdown, for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from depyf.findings import Finding
from depyf.model.counts import counted
from depyf.views.comparison import Change

MOST = 60_000
"""The most characters of a comment; code hosts accept 65,536."""
MOST_DETAILS = 40
"""The most lines shown for each change."""


def comment(changes: Iterable[tuple[str, Change]], old: Iterable[Finding], new: Iterable[Finding]) -> str:
    """Return a comment: new and resolved findings, then each change with its lines in a folded section.

    Args:
        changes: each change with its process, or "" if there is only one.
        old: the findings of the run before.
        new: the findings of the run after.
    """
    all_changes = list(changes)
    before, after = list(old), list(new)
    come, gone = only_in_second(before, after), only_in_second(after, before)
    lines = [f"### depyf: {counted(len(all_changes), 'change')} in what torch compiles", ""]
    lines += _findings("New findings", come, ":red_circle:")
    lines += _findings("No more", gone, ":green_circle:")
    size = sum(map(len, lines)) + len(lines)
    for number, (process, change) in enumerate(all_changes):
        part = "\n".join(_change(process, change))
        if size + len(part) > MOST:
            lines.append(f"... and {len(all_changes) - number} more changes: `depyf diff` shows them.")
            break
        size += len(part) + 1
        lines.append(part)
    if not all_changes and not come and not gone:
        lines.append("Nothing changed.")
    return "\n".join(lines).rstrip("\n") + "\n"


def only_in_second(first: Iterable[Finding], second: Iterable[Finding]) -> list[Finding]:
    """Return the findings of the second run that the first does not have, wherever their lines have moved."""
    known = {_key(finding) for finding in first}
    return list({_key(finding): finding for finding in second if _key(finding) not in known}.values())


def _key(finding: Finding) -> tuple[str, str, str, str]:
    """Return the identity of a finding without lines and numbers, because lines move."""
    where = finding.where
    return finding.kind, where.file if where else "", where.function if where else "", finding.cause


def _findings(title: str, findings: list[Finding], sign: str) -> Iterator[str]:
    if findings:
        yield f"**{title}**\n"
        for finding in findings:
            place = f" `{finding.where}`" if finding.where is not None else ""
            fix = f" *Fix:* {_escaped(finding.fix)}" if finding.fix else ""
            yield f"- {sign} **{finding.kind}**{place}: {_escaped(finding.cause)}.{fix}"
        yield ""


def _change(process: str, change: Change) -> Iterator[str]:
    subject = f"{process}: {change.subject}" if process else change.subject
    head = f"<code>{_html(subject)}</code> {_html(change.aspect)}: {_html(change.text)}"
    if not change.details:
        yield f"- {head}"
        return
    shown = [line.replace("\n", " ") for line in change.details[:MOST_DETAILS]]
    fence = "`" * max(3, 1 + max((_longest_run(line) for line in shown), default=0))
    yield f"<details><summary>{head}</summary>\n\n{fence}diff"
    yield from shown
    if len(change.details) > MOST_DETAILS:
        yield f"... and {counted(len(change.details) - MOST_DETAILS, 'more line')}"
    yield f"{fence}\n\n</details>\n"


def _longest_run(line: str) -> int:
    longest = length = 0
    for character in line:
        length = length + 1 if character == "`" else 0
        longest = max(longest, length)
    return longest


def _html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\n", " ")


def _escaped(text: str) -> str:
    """Return text escaped for Markdown. Code between backticks stays code, and no HTML gets through."""
    parts = text.replace("\n", " ").split("`")
    return "`".join(part if number % 2 else _html(part).replace("@", "&#64;") for number, part in enumerate(parts))
