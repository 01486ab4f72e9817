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

REPEATED = Kind(
    "repeated-blocks",
    "{blocks} are equal graphs: {repeated} of {whole} operations are compiled {count} times",
    "{advice}, so that the others reuse its code; then compare the time of a step",
)

OTHERS: tuple[Kind, ...] = (LIMIT, FAILURE, SKIPPED, UNFINISHED, REPEATED)
