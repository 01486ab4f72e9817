"""Files of a dump: each is written whole or not at all."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

INDEX = "index.json"
"""Name of the file that tells of a whole run, in each dump."""

PROBE_BYTES = 64 * 1024
"""A directory that cannot take this much is called full before anything is compiled."""

_LARGE = 1 << 18
"""Characters that are written at once, where a text comes in pieces."""


class DumpDirectoryError(OSError):
    """The directory given for a dump cannot be written to; raised before anything is compiled."""


def prepared_directory(directory: str | os.PathLike[str]) -> Path:
    """Make `directory` with its parents, write to it once to see that it can be, and return its absolute path.

    Raises:
        DumpDirectoryError: it is a file, cannot be made, cannot be written, or is full.
    """
    path = Path(os.fspath(directory))
    try:
        path = Path(os.path.abspath(path))  # There is none in a working directory that was removed.
        path.mkdir(parents=True, exist_ok=True)
        probe = path / f".depyf-probe-{os.getpid()}"
        try:
            write_whole(probe, " " * PROBE_BYTES)
        finally:
            probe.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DumpDirectoryError(f"depyf cannot write its files to {str(path)!r}: {reason}") from error
    return path


def foreign_files(directory: Path) -> list[str]:
    """Return the names of files in a directory that a dump would overwrite, though no dump is there."""
    if any(directory.glob(INDEX)) or any(directory.glob(f"*/{INDEX}")):
        return []
    if any(directory.glob("__*.py")):  # A run that was ended before its first index.
        return []
    return sorted(path.name for pattern in ("index.md", "full_code_for_*.py") for path in directory.glob(pattern))


def write_whole(path: str | os.PathLike[str], text: str | Iterable[str]) -> None:
    """Write a text, or its pieces, to `path` through a temporary file beside it: no reader ever sees a part of it.

    Characters that UTF-8 cannot hold are written as escapes.

    Raises:
        OSError: the file cannot be written; nothing is left of it then.
    """
    temporary = os.path.join(os.path.dirname(path), f".{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        descriptor = _opened(temporary)
        try:
            for each in _pieces(text):
                _write(descriptor, each.encode("utf-8", "backslashreplace"))
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _opened(path: str) -> int:
    """Return the descriptor of a file to write, in a directory that is made where it is not there.

    A file object asks the system four things more of each file, and a run has thousands.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        return os.open(path, flags, 0o666)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return os.open(path, flags, 0o666)


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _pieces(text: str | Iterable[str]) -> Iterator[str]:
    """Yield a text as it is, and pieces in larger ones: each is written by itself."""
    if isinstance(text, str):
        yield text
        return
    waiting: list[str] = []
    length = 0
    for piece in text:
        waiting.append(piece)
        length += len(piece)
        if length >= _LARGE:
            yield "".join(waiting)
            waiting, length = [], 0
    yield "".join(waiting)
