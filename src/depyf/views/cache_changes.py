"""Compare the caches of two runs."""

from __future__ import annotations

from depyf.findings.cache_misses.key import HIT
from depyf.findings.cache_misses.looks import Look, looks
from depyf.model.index_reader import Run
from depyf.views.comparison import Change

ASPECT = "caches"


def cache_changes(old: Run, new: Run) -> list[Change]:
    """Return a change for each cache miss of the new run, explained by the entries of the old run."""
    return [_change(look) for look in looks(new, [("the old run", old)]) if look.event.outcome != HIT]


def _change(look: Look) -> Change:
    function = look.function
    subject = f"{function.name}, {function.filename}:{function.resumes_at or function.first_line}"
    text = f"{look.cache}, {look.event.outcome}: {look.why}"
    details = look.cause.details if look.cause is not None else ()
    return Change(f"{subject}, compile {look.compile.id}", ASPECT, text, details)
