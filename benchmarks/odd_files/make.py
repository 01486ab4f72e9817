"""Make the odd files: headers, junk, dumps, damage, archives, bundles, trees, and what is no Python at all."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from benchmarks.odd_files.containers import executable, pyz, zipped
from benchmarks.odd_files.programs import PROGRAMS, Compiled

PYPY_MAGIC = (256).to_bytes(2, "little") + b"\r\n"
JUNK = random.Random(43)


class Wanted(Enum):
    """The right outcome for a file."""

    TEXT = "the text of the program"
    TREE = "the texts of the programs of a tree"
    PIECES = "the text of the whole code objects, and one line that says what is damaged"
    LINE = "one clear line"


@dataclass(frozen=True)
class Odd:
    """A file, or the files of a folder.

    programs: the programs that the texts must equal, by path of the text; for one file under the empty path.
    """

    name: str
    kind: str
    wanted: Wanted
    files: Mapping[str, bytes]
    programs: Mapping[str, Compiled]


def junk(size: int) -> bytes:
    """Return random bytes, the same in every run."""
    return JUNK.randbytes(size)


def headers(compiled: Compiled) -> dict[str, bytes]:
    """Return the contents of a file with each odd header."""
    code, magic = compiled.marshalled, compiled.header[:4]
    return {
        "no header": code,
        "a header of 4 bytes": magic + code,
        "a header of 8 bytes": magic + bytes(4) + code,
        "a header of 12 bytes": magic + bytes(8) + code,
        "zeros as a header": bytes(16) + code,
        "junk as a header": junk(16) + code,
        "junk before the header": junk(JUNK.randrange(17, 99)) + compiled.pyc,
        "junk behind the code": compiled.pyc + junk(40),
    }


def of_one_version(codes: Mapping[str, Compiled]) -> Iterator[Odd]:
    """Yield the odd files of one Python."""
    version = "{}.{}".format(*next(iter(codes.values())).version)
    for name, compiled in codes.items():
        for kind, content in headers(compiled).items():
            yield Odd(f"{version}-{name}.pyc", kind, Wanted.TEXT, {"": content}, {"": compiled})
        yield Odd(f"{version}-{name}.bin", "a marshal dump", Wanted.TEXT, {"": compiled.marshalled}, {"": compiled})
        for share in (0.4, 0.8):
            cut = compiled.pyc[: 16 + int(share * len(compiled.marshalled))]
            yield Odd(f"{version}-{name}.pyc", f"cut at {share:.0%}", Wanted.PIECES, {"": cut}, {})
    tree = {f"pkg/{name}.py": compiled for name, compiled in codes.items()}
    files = {path.replace(".py", ".pyc"): compiled.pyc for path, compiled in tree.items()}
    for kind, before in (("zipapp", b"#!/usr/bin/env python3\n"), ("whl", b""), ("egg", b"")):
        yield Odd(f"{version}.{kind}", f"archive: {kind}", Wanted.TREE, {"": zipped(files, before)}, tree)
    flat = {f"{name}.py": compiled for name, compiled in codes.items()}
    yield Odd(f"{version}-app", "PyInstaller's executable", Wanted.TREE, {"": executable(codes)}, flat)
    yield Odd(f"{version}-app.pyz", "PyInstaller's PYZ", Wanted.TREE, {"": pyz(codes)}, flat)
    yield Odd(f"{version}-package", "a package of .pyc alone", Wanted.TREE, files, tree)


def of_several_versions(versions: Mapping[tuple[int, int], Mapping[str, Compiled]]) -> Iterator[Odd]:
    """Yield `__pycache__` trees with the files of several Pythons."""
    for program in PROGRAMS:
        files, programs = {}, {}
        for (major, minor), codes in versions.items():
            name = f"{program}.cpython-{major}{minor}.pyc"
            files[f"__pycache__/{name}"] = codes[program].pyc
            programs[f"{name}.py" if len(versions) > 1 else f"{program}.py"] = codes[program]
        yield Odd(f"tree-{program}", "a __pycache__ of several Pythons", Wanted.TREE, files, programs)


def of_no_python(compiled: Compiled) -> Iterator[Odd]:
    """Yield files that no supported Python made."""
    contents = {
        "a .pyc of PyPy": PYPY_MAGIC + bytes(12) + compiled.marshalled,
        "a .pyc of PyPy without more": PYPY_MAGIC,
        "a .pyc of Python 2.7": (62211).to_bytes(2, "little") + b"\r\n" + bytes(4) + b"c\x00\x00\x00\x00",
        "an empty file": b"",
        "one byte": b"\xe3",
        "zeros": bytes(400),
        "text": b"This is a text and no code.\n" * 9,
        "a picture": b"\x89PNG\r\n\x1a\n" + junk(200),
        "an executable without Python": b"\x7fELF" + junk(400),
        "a list in marshal": b"[\x01\x00\x00\x00N",
        "a header without code": compiled.header,
        "a cookie without an archive": b"\x7fELF" + junk(100) + b"MEI\x0c\x0b\x0a\x0b\x0e" + junk(80),
        "a PYZ without a table": b"PYZ\0" + compiled.header[:4] + b"\0\0\xff\xff" + junk(30),
        "half of a zip": zipped({"m.pyc": compiled.pyc})[:60],
    }
    for number, (kind, content) in enumerate(contents.items()):
        yield Odd(f"other-{number}.pyc", kind, Wanted.LINE, {"": content}, {})
        yield Odd(f"other-{number}.bin", kind, Wanted.LINE, {"": content}, {})
