"""Read the modules in an executable of PyInstaller, or in its PYZ archive, without executing anything.

The formats are those of PyInstaller's documentation (advanced topics, "CArchive" and "ZlibArchive"):

    executable   boot loader, CArchive; the archive ends with a cookie of 88 bytes, maybe before a signature
    cookie       "MEI\\014\\013\\012\\013\\016", sizes of the archive and of its table, the version of Python
    table        for each member: offset, sizes, whether it is compressed, its kind, its name
    PYZ          "PYZ\\0", magic number of a .pyc, offset of a marshalled list of (name, (kind, offset, size))

Scripts and modules are marshal data of code objects. The members of a PYZ are compressed with zlib.
"""

from __future__ import annotations

import mmap
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

from depyf.bytecode.code import Version
from depyf.bytecode.pyc import HEADER_SIZE, MAGIC_END
from depyf.bytecode.records import dataclass
from depyf.bytecode.unmarshal import Unmarshaller
from depyf.bytecode.versions.known import facts_of
from depyf.decompiler.api import LARGEST
from depyf.errors import DecompilationError

COOKIE = b"MEI\x0c\x0b\x0a\x0b\x0e"
COOKIE_FORMAT = struct.Struct("!8sIIII64s")
ENTRY_FORMAT = struct.Struct("!IIIIBc")
PYZ = b"PYZ\x00"
PYZ_HEAD = 12
SCRIPT, MODULE, PACKAGE, ARCHIVE = "s", "m", "M", "z"
IS_PACKAGE = 1
CODES = (0, IS_PACKAGE)
"""The kinds of a PYZ's members that are code."""


@dataclass(frozen=True, slots=True)
class Member:
    """A module of a bundle.

    name: its path without a suffix, with `/` between packages.
    pyc: its code as a `.pyc`.
    """

    name: str
    pyc: bytes


def is_bundle(path: Path) -> bool:
    """Return whether a file is an executable of PyInstaller or a PYZ archive."""
    with path.open("rb") as file:
        if file.read(len(PYZ)) == PYZ:
            return True
        file.seek(0, 2)
        if file.tell() < COOKIE_FORMAT.size:
            return False
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.rfind(COOKIE) >= 0


def members(path: Path) -> Iterator[Member]:
    """Yield the modules in a bundle.

    Args:
        path: an executable of PyInstaller, or a PYZ archive.

    Raises:
        DecompilationError: it is damaged, encrypted, or of an unknown Python.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            if data[: len(PYZ)] == PYZ:
                yield from _pyz(data[:], str(path))
            else:
                yield from _executable(data, str(path))
        except (struct.error, zlib.error, UnicodeDecodeError, ValueError, TypeError, IndexError) as error:
            raise DecompilationError(f"the bundle is damaged or encrypted: {error}", code=str(path)) from error


def _executable(data: mmap.mmap, source: str) -> Iterator[Member]:
    """Yield the modules in the archive at the end of an executable."""
    at = data.rfind(COOKIE)
    _, size, table, table_size, number, _ = COOKIE_FORMAT.unpack_from(data, at)
    start = at + COOKIE_FORMAT.size - size
    if start < 0 or table + table_size > size:
        raise ValueError("its archive is larger than the file")
    # PyInstaller wrote 38 for 3.8, and has written 311 for 3.11 since 3.10.
    version = divmod(number, 100 if number >= 100 else 10)
    position, end = start + table, start + table + table_size
    while position < end:
        length, offset, packed, whole, is_compressed, kind = ENTRY_FORMAT.unpack_from(data, position)
        if length <= ENTRY_FORMAT.size:
            raise ValueError("an entry of its table has no name")
        name = data[position + ENTRY_FORMAT.size : position + length].rstrip(b"\0").decode("utf-8")
        position += length
        word = kind.decode("latin-1")
        if word in (SCRIPT, MODULE, PACKAGE, ARCHIVE):
            content = data[start + offset : start + offset + packed]
            content = _unpacked(content) if is_compressed else content
            if len(content) != whole:
                raise ValueError(f"{name} has {len(content)} bytes instead of {whole}")
            if word == ARCHIVE:
                yield from _pyz(content, source)
            else:
                path = name.replace(".", "/") if word != SCRIPT else name
                yield Member(f"{path}/__init__" if word == PACKAGE else path, _pyc(content, version, source))


def _pyz(data: bytes, source: str) -> Iterator[Member]:
    """Yield the modules in a PYZ archive."""
    magic, (table,) = data[4:8], struct.unpack_from("!I", data, 8)
    rows = Unmarshaller(data, (), source, table).load()
    for name, (kind, offset, size) in rows.items() if isinstance(rows, dict) else rows:  # type: ignore[attr-defined]
        if kind in CODES:
            path = name.replace(".", "/")
            code = _unpacked(data[offset : offset + size])
            yield Member(f"{path}/__init__" if kind == IS_PACKAGE else path, _with_header(magic, code))


def _unpacked(data: bytes) -> bytes:
    """Return the content of compressed data. Raises ValueError if it is too large."""
    stream = zlib.decompressobj()
    content = stream.decompress(data, LARGEST)
    if stream.unconsumed_tail:
        raise ValueError(f"a member has more than {LARGEST} bytes")
    return content


def _pyc(content: bytes, version: Version, source: str) -> bytes:
    """Return a member of an executable as a `.pyc`; older releases of PyInstaller kept the header."""
    if content[2:4] == MAGIC_END:
        return content
    return _with_header(facts_of(version, source).table.magic.to_bytes(2, "little") + MAGIC_END, content)


def _with_header(magic: bytes, code: bytes) -> bytes:
    return magic + bytes(HEADER_SIZE - len(magic)) + code
