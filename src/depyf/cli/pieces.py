"""The text of the whole code objects in a damaged `.pyc`."""

from __future__ import annotations

from depyf.bytecode.code import CO_OPTIMIZED, Code
from depyf.bytecode.damaged import whole_codes
from depyf.bytecode.records import dataclass
from depyf.cli.target import PycFile
from depyf.decompiler.api import CLASS_NAMES, MODULE, contents
from depyf.decompiler.class_source import class_source
from depyf.decompiler.function import text_of_function
from depyf.decompiler.module import module_source
from depyf.errors import DecompilationError


@dataclass(frozen=True, slots=True)
class Pieces:
    """The text of the whole code objects in a damaged file, and how many they are."""

    source: str
    count: int


def pieces_of(target: PycFile, reason: str) -> Pieces | None:
    """Return the text of the whole code objects in a damaged file, without a proof; None if there are none.

    Args:
        target: the file.
        reason: why it cannot be decompiled as a module.
    """
    try:
        data = contents(target.path)
        pieces = whole_codes(data, source=str(target.path), python=target.version)
    except DecompilationError:
        return None  # The caller reports why the file cannot be read.
    if not pieces:
        return None
    major, minor = pieces[0].code.version
    head = f"# A damaged file of Python {major}.{minor}: {_line(reason)}."
    parts = [f"{head}\n# The code below is whole; it is not proven.\n"]
    for piece in pieces:
        name = _line(piece.code.qualname)
        parts.append(f"# Bytes {piece.start} to {piece.end} of {len(data)}: {name}\n{_text(piece.code)}")
    return Pieces("\n".join(parts), len(pieces))


def written(pieces: Pieces) -> str:
    """Return how many code objects were written, for a message."""
    return f"{pieces.count} whole code object{'s' if pieces.count > 1 else ''} before the damage written, not proven"


def _text(code: Code) -> str:
    try:
        if code.flags & CO_OPTIMIZED:
            return text_of_function(code)
        is_class = code.name != MODULE and CLASS_NAMES <= set(code.names)
        return class_source(code) if is_class else module_source(code)
    except DecompilationError as error:
        return f"# It cannot be decompiled: {_line(str(error))}\n"


def _line(text: str) -> str:
    """Return a text that fits on one line of a comment."""
    return ascii(text)[1:-1].rstrip(".")
