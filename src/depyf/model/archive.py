"""The archive of a large dump: the files that are seldom opened, in one compressed file."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

ARCHIVE = "more.tar.xz"
"""The archive in the directory of a dump."""
_PRESET = 3
"""The level of xz: level 6 takes four times as long and saves a tenth."""


def archived(directory: Path) -> Mapping[str, str]:
    """Return the texts in the archive of a dump, by the names of their files; nothing without an archive.

    Raises:
        OSError: the archive is damaged.
    """
    try:
        state = os.stat(directory / ARCHIVE)
    except OSError:
        return {}
    return _read(directory / ARCHIVE, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=2)
def _read(path: Path, changed: int, size: int) -> Mapping[str, str]:
    """Return the texts of an archive in that state. A report reads each of them once, and all of one archive."""
    texts: dict[str, str] = {}
    try:
        with tarfile.open(path, "r:xz") as archive:
            for member in archive:
                content = archive.extractfile(member) if member.isfile() else None
                if content is not None:
                    texts[member.name] = content.read().decode("utf-8", "replace")
    except (tarfile.TarError, EOFError, ValueError, ImportError) as error:
        raise OSError(f"{path} cannot be read: {error}") from error
    return texts


def archive_bytes(texts: Mapping[str, str]) -> bytes:
    """Return an archive of texts. The same texts make the same bytes.

    Raises:
        ImportError: this Python was built without lzma.
    """
    import lzma

    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, text in sorted(texts.items()):
            content = text.encode("utf-8", "backslashreplace")
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return lzma.compress(plain.getvalue(), preset=_PRESET)
