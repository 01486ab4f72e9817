"""Unpack the Python files of an archive: a zipapp, a wheel, an egg, or any other zip. Nothing in it is executed."""

from __future__ import annotations

import contextlib
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from depyf.errors import DecompilationError

SUFFIXES = (".py", ".pyc")
LARGEST_FILE = 1 << 27
"""The largest file of an archive that is unpacked, in bytes: the largest `.pyc` that is read."""
LARGEST_ARCHIVE = 1 << 31
"""The most bytes of an archive that are unpacked: a small zip can hold any number of zeros."""


def is_archive(path: Path) -> bool:
    """Return whether a file is a zip, whatever its name is. A zipapp begins with a line for the shell."""
    return path.is_file() and path.suffix not in SUFFIXES and zipfile.is_zipfile(path)


@contextlib.contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """Give a temporary folder with the `.py` and `.pyc` files of an archive.

    Raises:
        DecompilationError: the archive is damaged, too large, or names a file outside of itself.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            with zipfile.ZipFile(path) as archive:
                _unpack(archive, folder, path)
        except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, EOFError) as error:
            raise DecompilationError(f"the archive cannot be read: {error}", code=str(path)) from error
        yield folder


def _unpack(archive: zipfile.ZipFile, folder: Path, path: Path) -> None:
    total = 0
    for member in archive.infolist():
        place = PurePosixPath(member.filename)
        if member.is_dir() or place.suffix not in SUFFIXES:
            continue
        if place.is_absolute() or ".." in place.parts:
            raise DecompilationError(f"the archive names a file outside of itself: {member.filename}", code=str(path))
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(member) as file:
            data = file.read(LARGEST_FILE + 1)
        total += len(data)
        if len(data) > LARGEST_FILE or total > LARGEST_ARCHIVE:
            raise DecompilationError(f"{member.filename} is too large", code=str(path))
        target.write_bytes(data)
