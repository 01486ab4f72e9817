"""The edits, one kind in a file. Each registers what it proposes for a finding."""

# The order in which edits for one finding are tried.
# isort: off
from depyf.fix.edits import (
    branches,
    guarded,
    early,
    empty,
    hoists,
    marks,
    reports,
    rewrites,
    switches,
    arguments,
    growing,
    drawn,
    drawn_inside,
    options,
    borders,
)

# isort: on

__all__ = [
    "arguments",
    "borders",
    "branches",
    "drawn",
    "drawn_inside",
    "early",
    "empty",
    "growing",
    "guarded",
    "hoists",
    "marks",
    "options",
    "reports",
    "rewrites",
    "switches",
]
