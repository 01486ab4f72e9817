"""Code objects from marshal data whose header is missing, cut short or unknown; nothing is executed.

    whole .pyc      magic number (4 bytes), flags (4), time and size, or hash (8), marshal data
    memory dumps    often lack the header or a part of it, or have zeros in its place

The version is found by trial: the data must unmarshal with the fields of a version, and each code object in it must be
valid bytecode of that version.
"""

from __future__ import annotations

from collections.abc import Iterator

from depyf.bytecode.code import Code, Version
from depyf.bytecode.listing import Listing
from depyf.bytecode.listings import Listings
from depyf.bytecode.pyc import HEADER_SIZE, MAGIC_END, PYPY_MAGICS, load, load_marshal, magic_of
from depyf.bytecode.records import dataclass
from depyf.bytecode.versions.facts import Facts
from depyf.bytecode.versions.known import FACTS, facts_of
from depyf.bytecode.versions.running import is_running
from depyf.errors import DecompilationError

HEADER_SIZES = (HEADER_SIZE, 0, 12, 8, 4)
"""The sizes of headers to try: a whole one, none, of Python 3.3 to 3.6, of Python 2, the magic number alone."""
CODE_MARKS = (b"\xe3", b"c")
"""The first byte of a marshalled code object."""
MOST_JUNK = 4096
"""The most bytes before a module's code that are searched."""
MOST_MARKS = 64
"""The most places that are tried as the start of a code object."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The code of a file, and what was assumed to read it (empty for a `.pyc` with a whole header)."""

    code: Code
    assumed: str = ""


def load_assuming(data: bytes, *, source: str, python: Version | None = None) -> Loaded:
    """Return the code object of a `.pyc` file's contents, also without a valid header.

    Args:
        data: the contents of a `.pyc` file, or marshal data.
        source: the location in error messages.
        python: the Python that made the data; by default the one that its header names, else one that fits.

    Returns:
        The code, and the assumption that it rests on.

    Raises:
        DecompilationError: the file belongs to another interpreter, or no version and header size fits.
    """
    wanted = None if python is None else facts_of(python, source)
    try:
        code = load(data, source=source)
        if wanted is None or facts_of(code.version, source) is wanted:
            return Loaded(code)
        refusal = DecompilationError(f"the header names Python {_dotted(code.version)}", code=source)
    except DecompilationError as error:
        refusal = error
    fitting = list(_fitting(data, source, wanted)) or list(_behind_junk(data, source, wanted))
    if not fitting:
        sizes = ", ".join(map(str, sorted(HEADER_SIZES)[:-1]))
        none = f"no marshal data of a code object follows a header of {sizes} or {HEADER_SIZE} bytes"
        reason = f"{refusal.reason}; {none}"
        raise DecompilationError(reason, code=source) from refusal
    size, code = fitting[0]
    others = [_dotted(other.version) for _, other in fitting[1:]]
    also = f" ({', '.join(others)} would fit too; --python chooses)" if others else ""
    return Loaded(code, f"assumed: a header of {size} bytes, marshal data of Python {_dotted(code.version)}{also}")


def _fitting(data: bytes, source: str, wanted: Facts | None) -> Iterator[tuple[int, Code]]:
    """Yield the header sizes and codes that are valid; each version at most once, the likeliest first."""
    magic = magic_of(data) if data[2:4] == MAGIC_END else None
    if magic in PYPY_MAGICS:
        return
    named = [facts for facts in FACTS.values() if facts.table.magic == magic]
    newest_first = [FACTS[known] for known in sorted(FACTS, key=lambda known: (is_running(known), known), reverse=True)]
    for facts in [wanted] if wanted is not None else named or newest_first:
        for size in HEADER_SIZES:
            if not data[size:].startswith(CODE_MARKS):
                continue
            try:
                code = load_marshal(data, facts, source=source, position=size)
                check_code(code)
            except DecompilationError:
                continue
            yield size, code
            break


def _behind_junk(data: bytes, source: str, wanted: Facts | None) -> Iterator[tuple[int, Code]]:
    """Yield the first code object of a module behind bytes that are no header, with their number.

    A magic number in the first `MOST_JUNK` bytes shows where a whole `.pyc` begins. Without it, each mark of a code
    object is tried, up to `MOST_MARKS` of them.
    """
    if data[2:4] == MAGIC_END and magic_of(data) in PYPY_MAGICS:
        return
    newest_first = sorted(FACTS.values(), key=lambda facts: facts.table.version, reverse=True)
    for facts in [wanted] if wanted is not None else newest_first:
        at = data.find(facts.table.magic.to_bytes(2, "little") + MAGIC_END, 1, MOST_JUNK)
        if at > 0 and (code := _module_at(data, facts, source, at + HEADER_SIZE)) is not None:
            yield at + HEADER_SIZE, code
            return
    marks = [at for at in range(1, min(len(data), MOST_JUNK)) if data[at : at + 1] in CODE_MARKS][:MOST_MARKS]
    for at in marks:
        for facts in [wanted] if wanted is not None else newest_first:
            if (code := _module_at(data, facts, source, at)) is not None:
                yield at, code
                return


def _module_at(data: bytes, facts: Facts, source: str, position: int) -> Code | None:
    """Return the valid code of a module at a position, or None: a function there is a part of damaged data."""
    try:
        code = load_marshal(data, facts, source=source, position=position)
        if code.name != "<module>":
            return None
        check_code(code)
    except DecompilationError:
        return None
    return code


def check_code(code: Code) -> None:
    """Raise DecompilationError unless a code object and all nested ones are valid bytecode of their version."""
    listings = Listings()
    work = [code]
    for inner in work:  # The list grows during the iteration.
        listing: Listing = listings.of(inner)
        if not listing.instructions:
            raise DecompilationError("the code has no instructions", code=str(inner))
        work += [const for const in inner.consts if isinstance(const, Code)]


def _dotted(version: Version) -> str:
    return ".".join(map(str, version))
