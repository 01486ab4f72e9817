"""Proven decompilations on disk, so that the second run of a program proves nothing again.

An entry is a file in the user's cache folder. Its name is a digest of all that text and proof depend on: the code with
numbered names replaced, what the proof assumed, depyf and Python. Its content begins with a checksum of the name and
the rest, so a damaged, cut or moved file counts as missing. Entries are written to a temporary file and then renamed,
so that several processes can share a folder. A folder that cannot be read or written has no entries.

Only proven results for Dynamo's code are kept. `debug` does not use them: it proves the code in each run.
"""

from __future__ import annotations

import contextlib
import hashlib
import marshal
import os
import sys
import threading
import types
from collections.abc import Hashable
from functools import cache
from pathlib import Path
from typing import Any

from depyf.model.variables import PROOFS_VARIABLE
from depyf.torch.adapters.maker import maker
from depyf.torch.capture.proven import Proven, Shown
from depyf.verify.level import Level

FORMAT = "proofs-1"
"""The folder inside the cache folder. It changes with the form of an entry."""
MOST_ENTRIES, MOST_BYTES = 4000, 1 << 20
"""The most entries of a folder, and the longest entry. The oldest entries are removed first."""
_CHECKSUM = 32


class KeptProofs:
    """The entries in a folder; None for none. May be used from any thread."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._is_new = True

    def get(self, key: Hashable, counted: int) -> Shown | None:
        """Return the entry for a key with so many numbered names, or None."""
        if self._folder is None:
            return None
        name = digest(key)
        try:
            content = (self._folder / name).read_bytes()
        except OSError:
            return None
        return read_entry(name, content, counted)

    def put(self, key: Hashable, shown: Shown) -> None:
        """Keep an entry, if it can be written."""
        folder = self._folder
        if folder is None:
            return
        name = digest(key)
        content = entry(name, shown)
        if content is None or len(content) > MOST_BYTES:
            return
        temporary = folder / f".{os.getpid()}-{threading.get_ident()}"
        try:
            if self._is_new:
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                _bound(folder)
                self._is_new = False
            temporary.write_bytes(content)
            os.replace(temporary, folder / name)
        except OSError:
            self._folder = None  # the next write would fail, too
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def kept_proofs() -> KeptProofs:
    """Return the entries in the folder that the user's environment names."""
    return KeptProofs(_folder())


def _folder() -> Path | None:
    """Return the folder for this depyf and this Python, or None if nothing is kept."""
    chosen = os.environ.get(PROOFS_VARIABLE, "")
    if chosen == "0":
        return None
    try:
        base = Path(chosen) if chosen else _cache_folder() / "depyf"
    except RuntimeError:  # there is no home directory
        return None
    return base / FORMAT


def _cache_folder() -> Path:
    """Return the user's folder for caches.

    Raises:
        RuntimeError: the user has no home directory.
    """
    named = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME", "")
    if os.path.isabs(named):
        return Path(named)
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")


@cache
def _maker() -> tuple[object, ...]:
    return FORMAT, *maker()


def digest(key: Hashable) -> str:
    """Return the name of the entry for a key of plain data."""
    return hashlib.sha256(marshal.dumps([*_maker(), _ordered(key)], 2)).hexdigest()


def _ordered(key: object) -> Any:  # noqa: ANN401 - plain data
    """Return a key with its sets in order, because the order of a set differs between processes."""
    if not isinstance(key, tuple):
        return sorted(key, key=repr) if isinstance(key, frozenset) else key
    return tuple(sorted(part, key=repr) if isinstance(part, frozenset) else part for part in key)


def entry(name: str, shown: Shown) -> bytes | None:
    """Return the content of an entry; None if the proven code cannot be written."""
    proven = shown.decompiled
    names_in_dump = {name: shown.to_dump.get(name, name) for name in shown.counted}
    try:
        payload = marshal.dumps(
            (
                (proven.level.name, proven.reason, proven.function, proven.lets_go, proven.compiled),
                (dict(proven.names), dict(proven.functions)),
                (shown.source, shown.module, names_in_dump, shown.instructions, shown.counted),
            )
        )
    except ValueError:
        return None
    return _checksum(name, payload) + payload


def read_entry(name: str, content: bytes, counted: int) -> Shown | None:
    """Return what an entry holds; None if it is damaged or belongs to another name.

    Args:
        name: the digest of the entry's key.
        content: the content of the entry's file.
        counted: the number of numbered names in the code at hand.
    """
    payload = content[_CHECKSUM:]
    if content[:_CHECKSUM] != _checksum(name, payload):
        return None
    try:
        (level, reason, function, lets_go, compiled), (names, functions), shown = marshal.loads(payload)
        source, module, to_dump, instructions, counted_names = shown
        proven = Proven(Level[level], reason, function, names, functions, lets_go, compiled)
    except (ValueError, EOFError, TypeError, KeyError):
        return None
    if (
        len(counted_names) != counted
        or not isinstance(compiled, types.CodeType | None)
        or proven.level is Level.UNPROVEN
    ):
        return None
    return Shown(proven, source, module, to_dump, instructions, counted_names)


def _checksum(name: str, payload: bytes) -> bytes:
    return hashlib.sha256(name.encode() + payload).digest()


def _bound(folder: Path) -> None:
    """Remove the oldest half of the entries if there are too many, and what a killed process left.

    Raises:
        OSError: the folder cannot be read.
    """
    names = os.listdir(folder)
    if len(names) < MOST_ENTRIES:
        return
    by_age = []
    for name in names:
        with contextlib.suppress(FileNotFoundError):  # another process bounds the folder, too
            by_age.append((os.stat(folder / name).st_mtime, name))
    for _, name in sorted(by_age)[: len(by_age) // 2]:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(folder / name)
