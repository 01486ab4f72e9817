"""Containers of code, written by their documented formats: PYZ archives and executables of PyInstaller, zip archives.

Each takes marshalled code by module name; `pkg.__init__` is a package.
"""

from __future__ import annotations

import io
import marshal
import struct
import zipfile
import zlib
from collections.abc import Mapping

from benchmarks.odd_files.programs import Compiled

BOOT_LOADER = b"\x7fELF" + bytes(60)
COOKIE = b"MEI\x0c\x0b\x0a\x0b\x0e"
PACKAGE = ".__init__"


def pyz(codes: Mapping[str, Compiled]) -> bytes:
    """Return a PYZ archive of PyInstaller."""
    body, rows = bytearray(17), []
    for name, code in codes.items():
        packed = zlib.compress(code.marshalled)
        rows.append((name.removesuffix(PACKAGE), (int(name.endswith(PACKAGE)), len(body), len(packed))))
        body += packed
    magic = next(iter(codes.values())).header[:4]
    body[:12] = b"PYZ\0" + magic + struct.pack("!I", len(body))
    # Version 2 of the format has no references and no interned strings: every Python reads it.
    return bytes(body) + marshal.dumps(rows, 2)


def executable(codes: Mapping[str, Compiled]) -> bytes:
    """Return an executable of PyInstaller: a script, the other modules in a PYZ archive, and a cookie."""
    (script, first), *others = codes.items()
    members = [(script, b"s", first.marshalled, True)]
    if others:
        members.append(("PYZ-00.pyz", b"z", pyz(dict(others)), False))
    body, table = bytearray(), bytearray()
    for name, kind, content, is_packed in members:
        stored = zlib.compress(content) if is_packed else content
        text = name.encode() + b"\0"
        text += bytes(-(18 + len(text)) % 16)
        table += struct.pack("!IIIIBc", 18 + len(text), len(body), len(stored), len(content), is_packed, kind) + text
        body += stored
    size = len(body) + len(table) + 88
    major, minor = first.version
    number = major * 100 + minor if minor >= 10 else major * 10 + minor
    cookie = struct.pack("!8sIIII64s", COOKIE, size, len(body), len(table), number, b"libpython.so")
    return BOOT_LOADER + bytes(body) + bytes(table) + cookie


def zipped(members: Mapping[str, bytes], before: bytes = b"") -> bytes:
    """Return a zip archive, with bytes before it."""
    file = io.BytesIO()
    file.write(before)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()
