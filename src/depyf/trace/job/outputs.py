"""Read how ranks ended from their output and from the log of torchrun."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping
from dataclasses import field

from depyf.bytecode.records import dataclass

MOST_BYTES = 1 << 18
"""The end of a log that is read."""
_PREFIX = re.compile(r"^\[(?:rank|default)?\d+\]:\s?", re.MULTILINE)
_TRACEBACK = "Traceback (most recent call last)"
_FRAME = re.compile(r'File "([^"\n]{1,4096})", line (\d{1,9})')
_LIBRARY = re.compile(r"[/\\](?:site-packages|dist-packages|lib[/\\]python3[^/\\]*|torch)[/\\]|^<")
_ERROR = re.compile(r"^([A-Za-z_][\w.]{0,200})(?:: ([^\n]*))?$", re.MULTILINE)
_CONSEQUENCE = re.compile(
    r"gloo|[Cc]onnection (?:closed|reset)|Broken pipe|Timed out|NCCL|ProcessGroup|DistBackendError|Watchdog|SignalExc"
)
_SIZES = re.compile(r"op\.preamble\.length <= op\.nbytes\. (\d{1,18}) vs (\d{1,18})")
_FAILURES = re.compile(
    r"rank\s*:\s*(\d{1,7})[^\n]*\n\s*exitcode\s*:\s*(-?\d{1,6})"
    r"|failed \(exitcode: (-?\d{1,6})\) local_rank: (\d{1,7})"
)
TERMINATED = -15
"""The exit code of a rank that torchrun ended, because another one failed."""
ABORTED = -6


@dataclass(frozen=True, slots=True)
class Ended:
    """How a rank ended.

    error: the exception or the signal in words.
    place: the innermost line of the user in the traceback, or "".
    follows: whether it is a consequence of another rank's failure: a collective that failed.
    sizes: the size in bytes that a transport received, and the size that it expected; (0, 0) if they were equal.
    """

    error: str
    place: str
    follows: bool
    sizes: tuple[int, int] = (0, 0)


@dataclass(slots=True)
class Outputs:
    """The text at the end of each rank's output, and the exit codes that torchrun names."""

    texts: dict[int, str] = field(default_factory=dict)
    codes: dict[int, int] = field(default_factory=dict)

    def add(self, rank: int | None, text: str) -> None:
        """Add the text of a log."""
        failures = list(_FAILURES.finditer(text))
        # A line with only the local rank does not say the host, so the lines with the rank of the job count.
        of_job = [(match[1], match[2]) for match in failures if match[1] is not None]
        for number, code in of_job or [(match[4], match[3]) for match in failures]:
            self.codes.setdefault(int(number), int(code))
        if rank is not None:
            self.texts[rank] = self.texts.get(rank, "") + text

    def ended(self) -> Mapping[int, Ended]:
        """Return how ranks ended that did not end well."""
        endings = {}
        for rank in sorted(self.texts.keys() | self.codes.keys()):
            ending = _ended(_PREFIX.sub("", self.texts.get(rank, "")), self.codes.get(rank, 0))
            if ending is not None:
                endings[rank] = ending
        return endings


def _ended(text: str, code: int) -> Ended | None:
    sizes = _SIZES.search(text)
    if sizes is not None:
        return Ended("the transport found another size", "", True, (int(sizes[1]), int(sizes[2])))
    start = text.rfind(_TRACEBACK)
    if start >= 0:
        return _of_traceback(text[start:])
    if code in (0, TERMINATED):
        return None
    words = f"exit code {code}"
    if code < 0:
        names = {member.value: member.name for member in signal.Signals}
        words = f"signal {names.get(-code, -code)}"
    return Ended(words, "", code == ABORTED)


def _of_traceback(text: str) -> Ended | None:
    lines = [match for match in _FRAME.finditer(text) if not _LIBRARY.search(match[1])]
    place = ""
    if lines:
        place = f"{lines[-1][1].replace(chr(92), '/').rpartition('/')[2]}:{lines[-1][2]}"
    errors = [match for match in _ERROR.finditer(text) if match[1] != "Traceback"]
    if not errors:
        return None
    error = errors[0][0].strip()[:200]
    return Ended(error, place, _CONSEQUENCE.search(text) is not None)
