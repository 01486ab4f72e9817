"""Read the dumps of torch's flight recorder, and compare the collectives of the ranks."""

from __future__ import annotations

import io
import json
import os
import pickle
import pickletools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import field

from depyf.bytecode.records import dataclass
from depyf.trace.job.groups import ranks_in_words

MOST_BYTES = 64 << 20
"""A larger file is not read as a dump of the recorder."""
MOST_ITEMS = 64
"""The most tensors of a collective, and sizes of a tensor, that are compared."""
MOST_NUMBER = 1 << 63
MOST_RANKS_TEXT = 1 << 20
_NUMBER = re.compile(r"\d{1,7}")
_RANK = re.compile(r"(\d{1,9})(?:\.(?:json|pickle|pkl))?$")
_LIBRARY = re.compile(r"[/\\](site-packages|dist-packages)[/\\]|[/\\]torch[/\\]distributed[/\\]|^<")
_PLAIN = frozenset(
    "PROTO FRAME STOP MARK POP POP_MARK DUP NONE NEWTRUE NEWFALSE INT BININT BININT1 BININT2 LONG LONG1 LONG4 FLOAT "
    "BINFLOAT UNICODE BINUNICODE SHORT_BINUNICODE BINUNICODE8 BINBYTES SHORT_BINBYTES BINBYTES8 EMPTY_LIST LIST APPEND "
    "APPENDS EMPTY_DICT DICT SETITEM SETITEMS EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3 GET BINGET LONG_BINGET PUT BINPUT "
    "LONG_BINPUT MEMOIZE".split()
)
_PUTS = ("PUT", "BINPUT", "LONG_BINPUT")
_BROKEN = (
    pickle.UnpicklingError, ValueError, EOFError, IndexError, KeyError, TypeError, AttributeError, OverflowError,
    RecursionError, MemoryError,
)  # fmt: skip
_SAME_SIZES = ("all_reduce", "allreduce", "broadcast", "reduce")
"""Collectives whose inputs have the same size and type on every rank."""


@dataclass(frozen=True, slots=True)
class Call:
    """A collective that a rank called: what it was, and the user's line.

    is_done: whether the rank had seen its end when the recorder was dumped.
    """

    operation: str
    tensors: str
    line: str
    nanoseconds: int
    is_done: bool = False

    @property
    def place(self) -> str:
        """Return the user's line as `file:line`, or ""."""
        return self.line.removeprefix(", ")


@dataclass(frozen=True, slots=True)
class Recorded:
    """The collectives of a rank, by group and sequence number, in the order of its calls.

    names: the description of each group.
    taken: when the file was written, in seconds since 1970; 0.0 if unknown.
    """

    rank: int
    calls: dict[tuple[str, int], Call]
    names: dict[str, str] = field(default_factory=dict)
    ranks: tuple[int, ...] = ()
    taken: float = 0.0


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Ranks that called something else than others as a collective of a group, or have no record of it.

    own: None if they have no record of it.
    """

    group: str
    number: int
    ranks: tuple[int, ...]
    own: Call | None
    others: tuple[int, ...]
    other: Call
    last: Call | None


class _Refused(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> object:
        raise pickle.UnpicklingError(f"{module}.{name} is no plain value")


def plain(data: bytes) -> object:
    """Return the value of a pickle with only plain values; nothing in it is executed.

    Raises:
        ValueError: it is damaged, or has other values.
    """
    try:
        for code, value, _ in pickletools.genops(data):
            too_far = code.name in _PUTS and isinstance(value, int) and not 0 <= value <= len(data)
            if code.name not in _PLAIN or too_far:
                raise ValueError(f"{code.name} is not allowed")
        return _Refused(io.BytesIO(data)).load()
    except _BROKEN as error:
        raise ValueError(f"no dump of the flight recorder: {error}") from error


def recorded(name: str, data: bytes, taken: float = 0.0) -> Recorded | None:
    """Return what a file of the recorder holds, or None if it is damaged or another file."""
    rank = _RANK.search(name)
    try:
        content = plain(data) if data[:1] == b"\x80" else json.loads(data)
    except (ValueError, RecursionError):
        return None
    entries = content.get("entries") if isinstance(content, dict) else None
    if rank is None or not isinstance(entries, (list, tuple)):
        return None
    calls: dict[tuple[str, int], Call] = {}
    names: dict[str, str] = {}
    collectives = [entry for entry in entries if isinstance(entry, dict) and _is_collective(entry)]
    for entry in sorted(collectives, key=_record_number):
        group = _group(entry)
        names.setdefault(group, _description(entry))
        calls[group, entry["collective_seq_id"]] = _call(entry)
    groups = content.get("pg_config") if isinstance(content, dict) else None
    return Recorded(int(rank[1]), calls, names, _ranks_of_default_group(groups), taken)


def _is_collective(entry: dict[str, object]) -> bool:
    number = entry.get("collective_seq_id")
    return isinstance(number, int) and 0 <= number < MOST_NUMBER and not entry.get("is_p2p")


def _record_number(entry: dict[str, object]) -> int:
    number = entry.get("record_id")
    return number if isinstance(number, int) else 0


def _ranks_of_default_group(groups: object) -> tuple[int, ...]:
    """Return the ranks of the largest group that a dump describes."""
    largest: tuple[int, ...] = ()
    for group in groups.values() if isinstance(groups, dict) else ():
        text = _text(group.get("ranks")) if isinstance(group, dict) else ""
        ranks = tuple(int(number) for number in _NUMBER.findall(text[:MOST_RANKS_TEXT]))
        largest = max(largest, ranks, key=len)
    return largest


def find_recorded(paths: Iterable[str]) -> list[Recorded]:
    """Return the recorder's dumps among files and the files of folders, one for each rank."""
    found: dict[int, Recorded] = {}
    for path in paths:
        inside = [os.path.join(path, name) for name in sorted(os.listdir(path))] if os.path.isdir(path) else [path]
        for each in inside:
            if not os.path.isfile(each) or os.path.getsize(each) > MOST_BYTES:
                continue
            with open(each, "rb") as stream:
                head = stream.read(1)
                is_dump = head in (b"\x80", b"{")
                own = recorded(each, head + stream.read(), os.path.getmtime(each)) if is_dump else None
            if own is not None and (own.rank not in found or not each.endswith(".json")):
                found[own.rank] = own
    return [found[rank] for rank in sorted(found)]


def mismatches(ranks: Sequence[Recorded]) -> list[Mismatch]:
    """Return the first mismatch of each group, by the time of the collective."""
    numbers: dict[str, set[int]] = {}
    members: dict[str, list[Recorded]] = {}
    for rank in ranks:
        for group in {each for each, _ in rank.calls}:
            members.setdefault(group, []).append(rank)
        for group, number in rank.calls:
            numbers.setdefault(group, set()).add(number)
    found = []
    for group, own in members.items():
        firsts = (_mismatch(group, number, own) for number in sorted(numbers[group]))
        found += [each for each in firsts if each is not None][:1]
    return sorted(found, key=lambda each: each.other.nanoseconds)


def in_words(found: Mismatch) -> str:
    """Return the sentence of a mismatch."""
    at = f"collective {found.number} of group {found.group}"
    call = f"{found.other.operation}({found.other.tensors}){found.other.line}"
    others, own = (f"rank{'s' * (len(each) > 1)} {ranks_in_words(each)}" for each in (found.others, found.ranks))
    if found.own is not None:
        mine = f"{found.own.operation}({found.own.tensors}){found.own.line}"
        return f"at {at}, {own} called {mine}, but {others} called {call}"
    last = f"; the last record there is {found.last.operation}{found.last.line}" if found.last is not None else ""
    return f"{own}: no record of {at}, which {others} called: {call}{last}"


def _mismatch(group: str, number: int, ranks: Sequence[Recorded]) -> Mismatch | None:
    called = {rank.rank: rank.calls[group, number] for rank in ranks if (group, number) in rank.calls}
    counts = Counter(_shown(call) for call in called.values())
    usual = counts.most_common(1)[0][0]
    others = tuple(rank for rank, call in called.items() if _shown(call) == usual)
    other = called[others[0]]
    apart = tuple(rank for rank, call in called.items() if _shown(call) != usual)
    if apart:
        return Mismatch(group, number, apart, called[apart[0]], others, other, None)
    # A full buffer drops its oldest records, so only a rank whose records end before this one lacks it.
    ends = {rank.rank: max(each for name, each in rank.calls if name == group) for rank in ranks}
    late = tuple(rank for rank, end in ends.items() if end < number)
    if not late:
        return None
    last = next(rank.calls[group, ends[rank.rank]] for rank in ranks if rank.rank == late[0])
    return Mismatch(group, number, late, None, others, other, last)


def _shown(call: Call) -> tuple[str, str]:
    return call.operation, call.tensors if call.operation in _SAME_SIZES else ""


def _group(entry: dict[object, object]) -> str:
    names = entry.get("process_group")
    return _text(names[0]) if isinstance(names, (list, tuple)) and names else ""


def _description(entry: dict[object, object]) -> str:
    names = entry.get("process_group")
    text = _text(names[1]) if isinstance(names, (list, tuple)) and len(names) > 1 else ""
    return text if text not in ("", "undefined") else _group(entry)


def _call(entry: dict[object, object]) -> Call:
    operation = _text(entry.get("profiling_name")).rpartition(":")[2]
    types = ", ".join(map(_text, _items(entry.get("input_dtypes"))))
    sizes = ", ".join(f"[{', '.join(map(_text, _items(each)))}]" for each in _items(entry.get("input_sizes")))
    created = entry.get("time_created_ns")
    is_done = bool(entry.get("retired")) or entry.get("state") == "completed"
    nanoseconds = created if isinstance(created, int) and abs(created) < MOST_NUMBER else 0
    return Call(operation, f"{types} {sizes}", _line(entry.get("frames")), nanoseconds, is_done)


def _items(value: object) -> Sequence[object]:
    return value[:MOST_ITEMS] if isinstance(value, (list, tuple)) else ()


def _text(value: object) -> str:
    """Return a string or number of a file; other values are empty, because nested ones can be of any size."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and abs(value) < MOST_NUMBER else ""


def _line(frames: object) -> str:
    for frame in frames if isinstance(frames, (list, tuple)) else ():
        name = _text(frame.get("filename")) if isinstance(frame, dict) else ""
        if name and not _LIBRARY.search(name):
            return f", {os.path.basename(name)}:{_text(frame.get('line'))}"
    return ""
