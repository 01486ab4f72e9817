"""Ways to damage marshal data and live code objects, each drawn from a seeded generator."""

from __future__ import annotations

import dis
import random
import types
from collections.abc import Callable, Sequence

HEADER = 16
EDGES = (0, 1, 2, 0x7F, 0x80, 0xFF)
LENGTHS = (0, 1, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x10000)
TYPES = b"0NFTSCyYlgstuRAaZzr()[{<>ic:?I."

Damage = Callable[[bytearray, random.Random, Sequence[bytes]], None]


def flip(data: bytearray, rng: random.Random, others: Sequence[bytes]) -> None:
    """Turn one bit over."""
    data[_place(data, rng)] ^= 1 << rng.randrange(8)


def edge(data: bytearray, rng: random.Random, others: Sequence[bytes]) -> None:
    """Set a byte to one that lies at an edge."""
    data[_place(data, rng)] = rng.choice(EDGES)


def length(data: bytearray, rng: random.Random, others: Sequence[bytes]) -> None:
    """Put a count at the edge of its range in the place of four bytes."""
    place = _place(data, rng)
    data[place : place + 4] = rng.choice(LENGTHS).to_bytes(4, "little")


def kind(data: bytearray, rng: random.Random, others: Sequence[bytes]) -> None:
    """Put the type of a marshalled object, perhaps a shared one, in the place of a byte."""
    data[_place(data, rng)] = rng.choice(TYPES) | (0x80 * rng.randrange(2))


def cut(data: bytearray, rng: random.Random, others: Sequence[bytes]) -> None:
    """Cut the end off."""
    del data[rng.randrange(len(data)) :]


def drop(data: bytearray, rng: random.Random, others: Sequence[bytes]) -> None:
    """Take some bytes out."""
    place = _place(data, rng)
    del data[place : place + rng.randint(1, 16)]


def double(data: bytearray, rng: random.Random, others: Sequence[bytes]) -> None:
    """Put some bytes in again, somewhere."""
    start, place = _place(data, rng), _place(data, rng)
    data[place:place] = data[start : start + rng.randint(1, 200)]


def noise(data: bytearray, rng: random.Random, others: Sequence[bytes]) -> None:
    """Write random bytes over some."""
    place, size = _place(data, rng), rng.randint(1, 8)
    data[place : place + size] = rng.randbytes(size)


def splice(data: bytearray, rng: random.Random, others: Sequence[bytes]) -> None:
    """Go on as another file does."""
    other = rng.choice(others)
    data[_place(data, rng) :] = other[rng.randrange(HEADER, len(other)) :]


def nested(data: bytearray, rng: random.Random, others: Sequence[bytes]) -> None:
    """Open containers within containers."""
    place = _place(data, rng)
    opening = rng.choice((b"(\1\0\0\0", b")\1", b"[\1\0\0\0", b"<\1\0\0\0", b"{", b"\xa9\1", b"\xe3" + bytes(24)))
    data[place:place] = opening * rng.choice((3, 100, 2500, 20000))


def header(data: bytearray, rng: random.Random, others: Sequence[bytes]) -> None:
    """Change the header: the magic number of another version, or random bytes."""
    if rng.randrange(2):
        data[:4] = rng.choice(others)[:4]
    else:
        place = rng.randrange(min(HEADER, len(data)))
        data[place] = rng.randrange(256)


def unfold(data: bytearray, rng: random.Random, others: Sequence[bytes]) -> None:
    """Hold an object twice, that twice, and so on: small to write, large to walk."""
    place = _place(data, rng)
    count = rng.choice((4, 30, 200))
    data[place:place] = b"\xa9\2" * count + b"N" + b"N" * count


DAMAGES: tuple[Damage, ...] = (
    *(flip, flip, flip, edge, edge, length, length, kind, kind),
    *(cut, drop, double, noise, noise, splice, nested, header, unfold),
)


def _place(data: bytearray, rng: random.Random) -> int:
    return rng.randrange(HEADER, len(data)) if len(data) > HEADER else max(len(data) - 1, 0)


def damaged(number: int, seed: int, files: Sequence[bytes]) -> bytes:
    """Return the file of a case; the same seed and number give the same file."""
    rng = random.Random(f"{seed}:{number}")
    data = bytearray(rng.choice(files))
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        if data:
            rng.choice(DAMAGES)(data, rng, files)
    return bytes(data)


# -- live code objects -------------------------------------------------------------------

ODD: tuple[object, ...] = (
    *(None, -1, 0, 1 << 70, "", "name", b"", (), ((),), frozenset()),
    *(1.5, float("nan"), ..., object(), [1], {1: 2}),
)


def damaged_code(number: int, seed: int, codes: Sequence[types.CodeType]) -> types.CodeType | None:
    """Return the code object of a case, never to be run; None where Python itself refuses to make it."""
    rng = random.Random(f"code {seed}:{number}")
    code = rng.choice(codes)
    changes: dict[str, object] = {}
    for _ in range(rng.choice((1, 1, 2, 3))):
        name = rng.choice(FIELDS)
        value = getattr(code, name, None)
        if value is not None:
            changes[name] = _changed(value, rng)
    if isinstance(changes.get("co_code"), bytes):
        changes["co_code"] += PADDING  # type: ignore[operator]
    try:
        return code.replace(**changes)  # type: ignore[arg-type]
    except (ValueError, TypeError, OverflowError, SystemError):
        return None


# Python 3.11 and newer write past the end of the copy when somebody reads `co_code` and its last instruction lacks
# caches that it should have; with these behind it none does.
PADDING = bytes((dis.opmap["NOP"], 0)) * 16
FIELDS = (
    *("co_code", "co_code", "co_code", "co_code", "co_exceptiontable", "co_linetable", "co_lnotab"),
    *("co_stacksize", "co_consts", "co_names", "co_varnames", "co_cellvars", "co_freevars", "co_nlocals"),
    *("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags", "co_firstlineno", "co_name"),
)


def _changed(value: object, rng: random.Random) -> object:
    """Return a value like another, damaged."""
    if isinstance(value, bytes):
        data = bytearray(value)
        for _ in range(rng.choice((1, 1, 2, 6))):
            place = rng.randrange(len(data)) if data else 0
            data[place : place + 1] = bytes([rng.choice((rng.randrange(256), *EDGES))])
        if rng.randrange(6) == 0:
            del data[rng.randrange(len(data) + 1) & ~1 :]
        return bytes(data)
    if isinstance(value, tuple):
        items: list[object] = list(value)
        rng.shuffle(items)
        if items and rng.randrange(2):
            items.pop()
        if rng.randrange(2):
            items.insert(0, rng.choice(ODD))
        return tuple(items)
    if isinstance(value, int):
        return rng.choice((value + 1, max(value - 1, 0), 0, value ^ (1 << rng.randrange(28)), 1 << 20))
    return "x y"
