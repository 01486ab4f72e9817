"""Findings about functions of the user's that Dynamo skipped."""

from __future__ import annotations

from collections.abc import Iterator

from depyf.model.finding import Cost, Finding, Where
from depyf.model.names import resumed_function
from depyf.model.reproducible import without_addresses
from depyf.model.run import Session
from depyf.model.skips import Whose, skips
from depyf.model.user_source import short_path

_BEFORE = "Dynamo decided to skip the frame while tracing: "
_BEHIND = " `torch.compile` will skip the frame and fall back to eager."
"""torch's text around a reason, which says only that the function runs eagerly."""
_NOTHING = ("No ops traced", "no tensor-related objects", "no content in function call")
"""Reasons for which a function has nothing to compile, so that running it eagerly costs nothing."""


def of_skipped(session: Session) -> Iterator[Finding]:
    """Yield a finding for each function of the user's own that Dynamo skipped."""
    failed = {(each.name, each.filename) for each, one in session.compiles() if one.failure is not None}
    for skip in skips(session):
        if any(words in skip.reason for words in _NOTHING):
            continue
        if skip.whose is Whose.OWN and (skip.name, skip.filename) not in failed:
            rest = resumed_function(skip.name)
            what = f"The rest of `{rest[0]}` after the break at :{rest[1]}" if rest is not None else f"`{skip.what}`"
            cause = f"{what} runs eager: {_bare(skip.reason)}"
            where = Where(short_path(skip.filename), 0, skip.name)
            yield Finding("skipped", "low", where, cause, Cost(None, 0.0, 0), "", ())


def _bare(reason: str) -> str:
    return without_addresses(reason).removeprefix(_BEFORE).removesuffix(_BEHIND).rstrip(".")
