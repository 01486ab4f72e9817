"""Kinds of findings that are neither recompiles nor graph breaks."""

from __future__ import annotations

from depyf.findings.catalogue.kind import Kind

LIMIT = Kind(
    "recompile-limit",
    "{calls}: it reached the limit of {limit}{because}",
    "{advice}",
)
FAILURE = Kind("failure", "The compile of `{function}` failed, {exception}: {reason}", "")
SKIPPED = Kind("skipped", "`{function}` runs eager: {reason}", "")

UNFINISHED = Kind("unfinished", "The process ended while it compiled `{function}`", "")

OTHERS: tuple[Kind, ...] = (LIMIT, FAILURE, SKIPPED, UNFINISHED)
