"""Guard failures for tests, made from sentences, as an index of schema 1 has them."""

from __future__ import annotations

from depyf.model.guard_failure import GuardFailure
from depyf.model.run import FailedEntry
from depyf.model.schema_1 import failure_of_sentence


def failed(entry: str, clauses: tuple[str, ...] = (), explained: tuple[str, ...] = ()) -> FailedEntry:
    """Return a failed entry from torch's clauses and the sentences of its guard failures."""
    failures = tuple(map(failure_of_sentence, explained or clauses))
    return FailedEntry(entry, clauses, failures, bool(explained))


def failure(sentence: str) -> GuardFailure:
    """Return the guard failure of one sentence."""
    return failure_of_sentence(sentence)
