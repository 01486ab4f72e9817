"""Select the skipped frames that readers want to see, and count the others."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from depyf.bytecode.records import dataclass
from depyf.model.names import resumed_function
from depyf.model.run import Session
from depyf.model.user_source import is_generated, is_installed

PLAIN = {
    "compilation failed with a custom frame execution strategy": (
        "it reached the limit of recompiles, so Dynamo compiles it no more: a call that no entry serves runs eagerly"
    ),
}
"""torch's reasons that name its own mechanism, in the words of a user."""


class Whose(Enum):
    """The origin of a frame's code. The value describes several frames."""

    OWN = "your own"
    PACKAGE = "of installed packages and of Python's library"
    GENERATED = "of generated code without a file"


@dataclass(frozen=True, slots=True)
class Skip:
    """A frame that Dynamo skipped: its name, torch's reason, how often torch gave it, and the origin of the code."""

    name: str
    filename: str
    what: str
    reason: str
    times: int
    whose: Whose


def skips(session: Session) -> Iterator[Skip]:
    """Yield the skipped frames in the order in which Dynamo first skipped them."""
    compiled = {(function.name, function.filename) for function in session.functions.values()}
    files = {filename for _, filename in compiled}
    for (name, filename, reason), times in session.skipped.items():
        rest = resumed_function(name)
        what = f"the rest of {rest[0]} after the break at :{rest[1]}" if rest else name
        if rest is not None and (rest[0], filename) in compiled:
            whose = Whose.OWN
        elif is_installed(filename) or filename in session.installed:
            whose = Whose.PACKAGE
        else:
            # Module-level code of that file only defines the functions.
            is_own = filename in files and name != "<module>"
            whose = Whose.GENERATED if is_generated(filename) and not is_own else Whose.OWN
        yield Skip(name, filename, what, plain_reason(reason), times, whose)


def plain_reason(reason: str) -> str:
    """Return torch's reason for a skip, or what it means.

    >>> plain_reason("no content in function call")
    'no content in function call'
    """
    return PLAIN.get(reason, reason)
