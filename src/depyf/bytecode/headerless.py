"""Code in files without a valid `.pyc` header: marshal data alone, a short or an empty header, or junk before it.

The version is found by trying: the bytes must be one whole code object in the marshal format of a version, and all of
its bytecode must be valid for that version. Nothing is executed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from depyf.bytecode.code import Code
from depyf.bytecode.normalise import normalise
from depyf.bytecode.pyc import HEADER_SIZE, code_at, facts_by_magic
from depyf.bytecode.versions.facts import Facts
from depyf.bytecode.versions.known import FACTS
from depyf.bytecode.versions.running import is_running
from depyf.errors import DecompilationError

OFFSETS = (0, 4, 8, 12, 16)
"""Where marshal data begins: at the start, or after a header of Python 3.7 or newer that is cut or emptied."""
_CODE, _FLAG = ord("c"), 0x80
"""The type of a code object in marshal data, and the bit for an object that later ones refer to."""


def guess(data: bytes, source: str) -> tuple[Code, str]:
    """Return the code in some bytes without a valid header, and what was assumed to read it.

    Args:
        data: the bytes of the file.
        source: the path, for messages.

    Raises:
        DecompilationError: no version can read it.
    """
    for offset in _offsets(data):
        for facts in _versions(data):
            try:
                code = code_at(data, offset, facts, source, to_the_end=True)
                for inner in _all_codes(code):
                    normalise(inner)
            except DecompilationError:
                continue
            number = ".".join(map(str, facts.table.version))
            return code, f"it has no valid header; read as marshal data of Python {number} from byte {offset}"
    raise DecompilationError("no .pyc header, and no marshal data of a known Python", code=source)


def _offsets(data: bytes) -> Iterator[int]:
    for offset in OFFSETS:
        if offset < len(data) and data[offset] & ~_FLAG == _CODE:
            yield offset


def _versions(data: bytes) -> Sequence[Facts]:
    """Return the versions to try: that of the magic number, the running one, and all others, the newest first."""
    known = sorted(FACTS, key=lambda one: (not is_running(one), [-part for part in one]))
    try:
        by_magic = [facts_by_magic(data, "").table.version] if len(data) >= HEADER_SIZE else []
    except DecompilationError:
        by_magic = []
    return [FACTS[one] for one in dict.fromkeys((*by_magic, *known))]


def _all_codes(code: Code) -> Iterator[Code]:
    work = [code]
    while work:
        code = work.pop()
        yield code
        work.extend(const for const in code.consts if isinstance(const, Code))
