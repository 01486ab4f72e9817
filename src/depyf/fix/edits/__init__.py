"""The edits, one kind in a file. Each registers what it proposes for a finding."""

# The order in which edits for one finding are tried.
# isort: off
from depyf.fix.edits import (
    branches,
    guarded,
    empty,
    hoists,
    marks,
    reports,
    rewrites,
    switches,
    arguments,
    growing,
    drawn,
    options,
    borders,
)

# isort: on

__all__ = [
    "arguments",
    "borders",
    "branches",
    "drawn",
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
