"""Find the trace files that a user names: folders, globs, compressed files and URLs; with their ranks and jobs."""

from __future__ import annotations

import bz2
import glob
import gzip
import importlib.util
import io
import lzma
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

from depyf.bytecode.records import dataclass
from depyf.model.index_reader import has_index, index_file
from depyf.trace.reader import Reader

_RANK = re.compile(r"rank_(\d{1,9})(?=\D|$)")
_RANK_OF_RECORD = re.compile(rb"^[VDIWECF]\d{4} [^\n]{0,4096}\] \{[^\n]{0,4096}\"rank\": (\d{1,9})[,}]", re.MULTILINE)
_URL = re.compile(r"[a-z][a-z0-9+.]*://")
_TRACE_NAME = re.compile(r"(\.log|log\.txt|\.log\.txt)(\.(gz|bz2|xz|zst))?$")
_MAGIC = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\x00", lzma.open))
_DAMAGED = (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError)
_ZSTANDARD = b"\x28\xb5\x2f\xfd"
_MOST_HEAD = 64 << 10
_BLOCK, _MOST_LINE = 1 << 20, 16 << 10
"""The bytes that are searched at once for a rank, and those that are searched again with the next ones."""


class TraceError(ValueError):
    """The path names no trace, or a trace that cannot be opened."""


@dataclass(frozen=True, slots=True)
class Source:
    """A trace file: its path or URL, its stored size in bytes, its rank, and its job, from 0.

    begins: the time of its first record, in seconds of the year.
    """

    path: str
    size: int
    rank: int | None = None
    job: int = 0
    begins: float = 0.0

    @property
    def name(self) -> str:
        """Return the last part of the path."""
        return self.path.rstrip("/").rpartition("/")[2]


def is_url(path: str) -> bool:
    """Return whether a path is a URL, which `fsspec` opens."""
    return _URL.match(path) is not None


def find(paths: Iterable[str]) -> list[Source]:
    """Return the trace files that paths name, by job and rank.

    Raises:
        TraceError: a path names nothing, or a file that is no trace.
        OSError: a file cannot be read.
    """
    sizes: dict[str, int] = {}
    named = dict.fromkeys(paths)
    for path in named:
        sizes_of_path = _of_url(path) if is_url(path) else _of_path(path)
        if not sizes_of_path:
            raise TraceError(f"there is no trace in {path}")
        sizes.update(sizes_of_path)
    sources = [_looked_at(path, size) for path, size in sizes.items()]
    other = next((source for source in sources if source.size and not source.begins and source.path in named), None)
    if other is not None:
        raise TraceError(f"{other.path} is neither a dump nor a trace: it begins with no record of torch's")
    return _jobs(sources)


def holds_trace(path: str) -> bool:
    """Return whether a path is a URL, a pattern, or a folder with a trace, or has the name of a trace."""
    return is_url(path) or bool(_of_path(path)) and (not os.path.isfile(path) or _is_named(path))


def _of_path(path: str) -> dict[str, int]:
    if os.path.isdir(path):
        inside = [os.path.join(path, name) for name in sorted(os.listdir(path))]
        return {file: os.path.getsize(file) for file in inside if os.path.isfile(file) and _TRACE_NAME.search(file)}
    names = [path] if os.path.isfile(path) else sorted(glob.glob(path, recursive=True))
    return {file: os.path.getsize(file) for file in names if os.path.isfile(file)}


def _of_url(path: str) -> dict[str, int]:
    if importlib.util.find_spec("fsspec") is None:
        raise TraceError(f"{path} is opened by fsspec: pip install fsspec")
    import fsspec

    system, inside = fsspec.core.url_to_fs(path)
    names = system.glob(inside) if "*" in inside else [inside]
    sizes: dict[str, int] = {}
    for name in names:
        if system.isdir(name):
            within = [entry for entry in system.ls(name, detail=True) if entry["type"] == "file"]
            sizes.update(
                {
                    system.unstrip_protocol(entry["name"]): entry["size"] or 0
                    for entry in within
                    if _is_named(entry["name"])
                }
            )
        elif system.exists(name):
            sizes[system.unstrip_protocol(name)] = system.size(name) or 0
    return dict(sorted(sizes.items()))


def _is_named(name: str) -> bool:
    return _TRACE_NAME.search(name) is not None


def is_dump(path: str) -> bool:
    """Return whether a path means the directory of a dump, and not traces."""
    directory = Path(path)
    if is_url(path) or not directory.is_dir():
        # A path that does not exist and is no pattern was meant as a dump.
        return not is_url(path) and not directory.exists() and not any(sign in path for sign in "*?[")
    return bool(indexes(directory))


def indexes(dump: Path) -> list[Path]:
    """Return the indexes of a dump: its own, and those of its ranks and processes."""
    return [index_file(folder) for folder in (dump, *dump.glob("*/")) if has_index(folder)]


@contextmanager
def open_trace(path: str) -> Iterator[BinaryIO]:
    """Open a trace for reading bytes. The first bytes show how it is compressed.

    Raises:
        TraceError: the package for its compression is not installed.
        OSError: it cannot be opened.
    """
    with ExitStack() as opened:
        stream = opened.enter_context(_raw(path))
        head = stream.read(6)
        stream.seek(0)
        for magic, opener in _MAGIC:
            if head.startswith(magic):
                unpacked = opened.enter_context(cast(io.BufferedIOBase, opener(stream, "rb")))
                stream = cast(BinaryIO, Gradual(unpacked, _DAMAGED))
        if head.startswith(_ZSTANDARD):
            stream = _zstandard(path, stream)
        yield stream


class Gradual:
    """Reads compressed data up to the first damage, which raises `EOFError` after all valid data."""

    def __init__(self, stream: io.BufferedIOBase, errors: tuple[type[Exception], ...]) -> None:
        """Read `stream`, whose `errors` mean damage."""
        self._stream = stream
        self._errors = errors
        self._damage = ""

    def read(self, size: int) -> bytes:
        """Return up to this many bytes, or b"" at the end.

        Raises:
            EOFError: the following data is damaged or missing.
        """
        if self._damage:
            raise EOFError(self._damage)
        parts: list[bytes] = []
        while size > 0:
            try:
                part = self._stream.read1(size)
            except self._errors as error:
                self._damage = str(error) or type(error).__name__
                break
            if not part:
                break
            parts.append(part)
            size -= len(part)
        if self._damage and not parts:
            raise EOFError(self._damage)
        return b"".join(parts)


def _raw(path: str) -> BinaryIO:
    if not is_url(path):
        return open(path, "rb")
    import fsspec

    return cast(BinaryIO, fsspec.open(path, "rb").open())


def _zstandard(path: str, stream: BinaryIO) -> BinaryIO:
    if importlib.util.find_spec("zstandard") is None:
        raise TraceError(f"{path} is compressed with zstd: pip install zstandard")
    import zstandard

    unpacked = io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(stream))
    return cast(BinaryIO, Gradual(unpacked, (*_DAMAGED, zstandard.ZstdError)))


def _looked_at(path: str, size: int) -> Source:
    """Return a file with its rank, and the time of its first record."""
    match = _RANK.search(path.rpartition("/")[2])
    rank = int(match[1]) if match is not None else _rank_of_records(path)
    with open_trace(path) as stream:
        try:
            head = stream.read(_MOST_HEAD)
        except EOFError:
            head = b""
    first = next(iter(Reader().read(io.BytesIO(head))), None)
    return Source(path, size, rank, begins=first.seconds if first is not None else 0.0)


def _rank_of_records(path: str) -> int | None:
    """Return the rank in the records of a file without a rank in its name, or None.

    A compile before `init_process_group` begins the file. The records after it have the rank.
    """
    with open_trace(path) as stream:
        before = b""
        while True:
            try:
                block = stream.read(_BLOCK)
            except EOFError:
                return None
            match = _RANK_OF_RECORD.search(before + block)
            if match is not None:
                return int(match[1])
            if not block:
                return None
            before = block[-_MOST_LINE:]


def _jobs(sources: list[Source]) -> list[Source]:
    """Return the files with their jobs. A rank has one file in a job; a file without a rank is a job of its own.

    Among the jobs without this rank, the one with the nearest start is taken.
    """
    jobs: list[tuple[float, set[int]]] = []
    with_jobs = []
    for source in sorted(sources, key=lambda source: (source.begins, source.rank or 0, source.path)):
        rank = source.rank
        free = [number for number, (_, taken) in enumerate(jobs) if rank is not None and taken and rank not in taken]
        if free:
            job = min(free, key=lambda number: abs(jobs[number][0] - source.begins))
        else:
            job = len(jobs)
            jobs.append((source.begins, set()))
        if rank is not None:
            jobs[job][1].add(rank)
        with_jobs.append(replace(source, job=job))
    return sorted(with_jobs, key=lambda source: (source.job, source.rank if source.rank is not None else -1))
