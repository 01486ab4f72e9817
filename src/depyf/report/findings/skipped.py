"""Functions of the user's that Dynamo leaves as they are."""

from __future__ import annotations

from collections.abc import Iterator

from depyf.report.findings.model import Cost, Finding, Where
from depyf.report.model import Session
from depyf.report.skips import Whose, skips
from depyf.report.user_source import short_path


def of_skipped(session: Session) -> Iterator[Finding]:
    """Yield a finding for each function of the user's own that runs as it was written."""
    failed = {(each.name, each.filename) for each, one in session.compiles() if one.failure is not None}
    for each in skips(session):
        if each.whose is Whose.OWN and (each.name, each.filename) not in failed:
            cause = f"`{each.what}` runs eager: {each.reason.rstrip('.')}"
            where = Where(short_path(each.filename), 0, each.name)
            yield Finding("skipped", "low", where, cause, Cost(None, 0.0, 0), "", ())
