"""Read the stacks of ranks, as `faulthandler` and `py-spy dump` write them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from depyf.bytecode.records import dataclass

MOST_FRAMES = 20_000
_FRAME = re.compile(
    r'^\s+File "(?P<file>[^"\n]{1,4096})", line (?P<line>\d{1,9}) in (?P<name>[^\n]{1,400})$'
    r"|^\s+(?P<spy_name>\S[^\n(]{0,400}) \((?P<spy_file>[^\n()]{1,4096}):(?P<spy_line>\d{1,9})\)$"
)
_THREAD = re.compile(r"^(?:Current thread|Thread) ")
_LIBRARY = re.compile(r"[/\\](?:site-packages|dist-packages|lib[/\\]python3[^/\\]*|torch)[/\\]|^<|^torch[/\\]")
_COMPILES = re.compile(r"torch[/\\]_dynamo[/\\](?:convert_frame|symbolic_convert|output_graph)\.py$")
_WAITS = re.compile(
    r"torch[/\\]distributed[/\\](?:distributed_c10d|_functional_collectives|c10d_logger)\.py$"
    r"|torch[/\\]nn[/\\]parallel[/\\]distributed\.py$"
)


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame of a Python stack."""

    file: str
    line: int
    function: str

    @property
    def place(self) -> str:
        """Return the name of its file with the line."""
        return f"{self.file.replace(chr(92), '/').rpartition('/')[2]}:{self.line}"


@dataclass(frozen=True, slots=True)
class Stack:
    """Where the main thread of a rank is.

    place: the innermost line of the user.
    compiles, waits: whether it is inside torch.compile, or inside a collective.
    """

    place: str
    compiles: bool
    waits: bool


def stack_of(text: str) -> Stack | None:
    """Return where the main thread is, or None if the text has no stack with a line of the user."""
    threads: list[list[Frame]] = []
    is_main: list[bool] = []
    for line in text.splitlines()[:MOST_FRAMES]:
        if _THREAD.match(line):
            threads.append([])
            is_main.append("MainThread" in line)
            continue
        frame = _frame(line)
        if frame is not None and threads:
            threads[-1].append(frame)
    for frames, named in zip(threads, is_main, strict=True):
        if named or any(frame.function == "<module>" for frame in frames):
            return _state(frames)
    return None


def _frame(line: str) -> Frame | None:
    match = _FRAME.match(line)
    if match is None:
        return None
    if match["file"] is not None:
        return Frame(match["file"], int(match["line"]), match["name"])
    return Frame(match["spy_file"], int(match["spy_line"]), match["spy_name"])


def _state(frames: Sequence[Frame]) -> Stack | None:
    """Return the state of a thread from its frames, innermost first."""
    inner = next((number for number, frame in enumerate(frames) if not _LIBRARY.search(frame.file)), None)
    if inner is None:
        return None
    above = [frame.file for frame in frames[:inner]]
    compiles = any(_COMPILES.search(file) for file in above)
    waits = not compiles and any(_WAITS.search(file) for file in above)
    return Stack(frames[inner].place, compiles, waits)
