"""Write the files of a dump, each whole or not at all."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

INDEX = "index.json"
"""The file in each dump that describes a whole run."""

PROBE_BYTES = 64 * 1024
"""A directory without this much space is reported as full before anything is compiled."""

_LARGE = 1 << 18
"""Characters that are written at once if a text comes in pieces."""


class DumpDirectoryError(OSError):
    """The directory for a dump cannot be written; raised before anything is compiled."""


def prepared_directory(directory: str | os.PathLike[str]) -> Path:
    """Create `directory` with its parents, test that it can be written, and return its absolute path.

    Raises:
        DumpDirectoryError: it is a file, cannot be created, cannot be written, or is full.
    """
    path = Path(os.fspath(directory))
    try:
        path = Path(os.path.abspath(path))  # A working directory that was removed has no path.
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
    """Return the names of files in a directory that a dump would overwrite, although there is no dump."""
    if any(directory.glob(INDEX)) or any(directory.glob(f"*/{INDEX}")):
        return []
    if any(directory.glob("__*.py")):  # A run that ended before its first index.
        return []
    return sorted(path.name for pattern in ("index.md", "full_code_for_*.py") for path in directory.glob(pattern))


def write_whole(path: str | os.PathLike[str], text: str | Iterable[str]) -> None:
    """Write a text, or its pieces, to `path` through a temporary file beside it, so that no reader sees a part of it.

    Characters that UTF-8 cannot encode are written as escapes.

    Raises:
        OSError: the file cannot be written; no temporary file is left.
    """
    write_whole_bytes(path, (piece.encode("utf-8", "backslashreplace") for piece in _pieces(text)))


def write_whole_bytes(path: str | os.PathLike[str], pieces: Iterable[bytes]) -> None:
    """Write bytes to `path` through a temporary file beside it.

    Raises:
        OSError: the file cannot be written; no temporary file is left.
    """
    temporary = os.path.join(os.path.dirname(path), f".{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        descriptor = _opened(temporary)
        try:
            for piece in pieces:
                _write(descriptor, piece)
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _opened(path: str) -> int:
    """Return a descriptor of a file to write. Create its directory if necessary.

    A file object needs four more system calls for each file, and a run has thousands of files.
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
    """Yield a text as it is, or pieces joined into larger ones, because each piece is a separate write."""
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
