"""Which of the frames that Dynamo left as they are a reader wants to see, and how the others are counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from depyf.report.model import Session
from depyf.report.names import resumed_function
from depyf.report.user_source import is_generated, is_installed


class Whose(Enum):
    """Whose code a frame runs; the value says where several are from."""

    OWN = "your own"
    PACKAGE = "of installed packages and of Python's library"
    GENERATED = "of code that was generated and is in no file"


@dataclass(frozen=True, slots=True)
class Skip:
    """A frame that runs as it was written: what it is, why, how often torch said so, and whose code it is."""

    name: str
    filename: str
    what: str
    reason: str
    times: int
    whose: Whose


def skips(session: Session) -> Iterator[Skip]:
    """Yield the frames that Dynamo skipped, in the order in which it first did."""
    compiled = {(each.name, each.filename) for each in session.functions.values()}
    files = {filename for _, filename in compiled}
    for (name, filename, reason), times in session.skipped.items():
        rest = resumed_function(name)
        what = f"the rest of {rest[0]} behind the break at :{rest[1]}" if rest else name
        if rest is not None and (rest[0], filename) in compiled:
            whose = Whose.OWN
        elif is_installed(filename) or filename in session.installed:
            whose = Whose.PACKAGE
        else:
            # What runs as a module there only defines the functions.
            is_own = filename in files and name != "<module>"
            whose = Whose.GENERATED if is_generated(filename) and not is_own else Whose.OWN
        yield Skip(name, filename, what, reason, times, whose)
