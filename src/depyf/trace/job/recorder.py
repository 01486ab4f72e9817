"""Read the dumps of torch's flight recorder, and compare the collectives of the ranks."""

from __future__ import annotations

import functools
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from depyf.bytecode.records import dataclass
from depyf.trace.job.groups import ranks_in_words
from depyf.trace.job.plain_pickle import plain_pickle

MOST_BYTES = 64 << 20
"""A larger file is not read as a dump of the recorder."""
MOST_ITEMS = 64
"""The most tensors of a collective, and sizes of a tensor, that are compared."""
MOST_NUMBER = 1 << 63
MOST_RANKS_TEXT = 1 << 20
_NUMBER = re.compile(r"\d{1,7}")
_RANK = re.compile(r"(\d{1,9})(?:\.(?:json|pickle|pkl))?$")
_LIBRARY = re.compile(r"[/\\](site-packages|dist-packages)[/\\]|[/\\]torch[/\\]distributed[/\\]|^<")
_SAME_SIZES = ("all_reduce", "allreduce", "broadcast", "reduce")
"""Collectives whose inputs have the same size and type on every rank."""


@dataclass(frozen=True, slots=True)
class Call:
    """A collective that a rank called: what it was, and the user's line.

    is_done: whether the rank had seen its end when the recorder was dumped.
    ended: when the rank had seen its end, in nanoseconds since 1970; 0 if unknown.
    """

    operation: str
    tensors: str
    line: str
    nanoseconds: int
    is_done: bool = False
    ended: int = 0

    @property
    def place(self) -> str:
        """Return the user's line as `file:line`, or ""."""
        return self.line.removeprefix(", ")


@dataclass(frozen=True, slots=True)
class Recorded:
    """The collectives of a rank, by group and sequence number, in the order of its calls.

    names: the description of each group.
    ranks: those of the largest group that the dump describes.
    members: the ranks of each group that it describes.
    taken: when the file was written, in seconds since 1970; 0.0 if unknown.
    """

    rank: int
    calls: dict[tuple[str, int], Call]
    names: dict[str, str] = field(default_factory=dict)
    ranks: tuple[int, ...] = ()
    taken: float = 0.0
    members: tuple[tuple[str, tuple[int, ...]], ...] = ()


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


def recorded(name: str, data: bytes, taken: float = 0.0) -> Recorded | None:
    """Return what a file of the recorder holds, or None if it is damaged or another file.

    Args:
        name: the path of the file, with the rank in it.
        data: its content: a pickle or JSON.
        taken: when the file was written, in seconds since the epoch.
    """
    rank = _RANK.search(name)
    try:
        content = plain_pickle(data) if data[:1] == b"\x80" else json.loads(data.decode("utf-8", "replace"))
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
    members = _members(content.get("pg_config") if isinstance(content, dict) else None)
    largest = max((ranks for _, ranks in members), key=len, default=())
    return Recorded(int(rank[1]), calls, names, largest, taken, members)


def _is_collective(entry: dict[str, object]) -> bool:
    number = entry.get("collective_seq_id")
    return isinstance(number, int) and 0 <= number < MOST_NUMBER and not entry.get("is_p2p")


def _record_number(entry: dict[str, object]) -> int:
    number = entry.get("record_id")
    return number if isinstance(number, int) else 0


def _members(groups: object) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return the ranks of each group that a dump describes."""
    described = groups.items() if isinstance(groups, dict) else ()
    texts = ((str(name), _text(group.get("ranks"))) for name, group in described if isinstance(group, dict))
    return tuple((name, _ranks(text[:MOST_RANKS_TEXT])) for name, text in texts if text)


@functools.lru_cache(maxsize=1024)
def _ranks(text: str) -> tuple[int, ...]:
    """Return the ranks in a list. Cached, because all ranks write the same one."""
    return tuple(map(int, _NUMBER.findall(text)))


def find_recorded(paths: Iterable[str]) -> list[Recorded]:
    """Return the recorder's dumps among files and the files of folders, one for each rank."""
    by_rank: dict[int, Recorded] = {}
    for path in paths:
        inside = [os.path.join(path, name) for name in sorted(os.listdir(path))] if os.path.isdir(path) else [path]
        for file in inside:
            if not os.path.isfile(file) or os.path.getsize(file) > MOST_BYTES:
                continue
            with open(file, "rb") as stream:
                head = stream.read(1)
                is_dump = head in (b"\x80", b"{")
                dump = recorded(file, head + stream.read(), os.path.getmtime(file)) if is_dump else None
            if dump is not None and (dump.rank not in by_rank or not file.endswith(".json")):
                by_rank[dump.rank] = dump
    return [by_rank[rank] for rank in sorted(by_rank)]


def mismatches(ranks: Sequence[Recorded]) -> list[Mismatch]:
    """Return the first mismatch of each group, by the time of the collective."""
    numbers: dict[str, set[int]] = {}
    members: dict[str, list[Recorded]] = {}
    for rank in ranks:
        for group in {group_name for group_name, _ in rank.calls}:
            members.setdefault(group, []).append(rank)
        for group, number in rank.calls:
            numbers.setdefault(group, set()).add(number)
    first_mismatches = []
    for group, dumps in members.items():
        ends = {rank.rank: max(number for name, number in rank.calls if name == group) for rank in dumps}
        candidates = (_mismatch(group, number, dumps, ends) for number in sorted(numbers[group]))
        first_mismatches += [first] if (first := next(filter(None, candidates), None)) is not None else []
    return sorted(first_mismatches, key=lambda mismatch: mismatch.other.nanoseconds)


def in_words(mismatch: Mismatch) -> str:
    """Return the sentence of a mismatch."""
    at = f"collective {mismatch.number} of group {mismatch.group}"
    call = f"{mismatch.other.operation}({mismatch.other.tensors}){mismatch.other.line}"
    others, ours = (
        f"rank{'s' * (len(ranks) > 1)} {ranks_in_words(ranks)}" for ranks in (mismatch.others, mismatch.ranks)
    )
    if mismatch.own is not None:
        mine = f"{mismatch.own.operation}({mismatch.own.tensors}){mismatch.own.line}"
        return f"at {at}, {ours} called {mine}, but {others} called {call}"
    last = (
        f"; the last record there is {mismatch.last.operation}{mismatch.last.line}" if mismatch.last is not None else ""
    )
    return f"{ours}: no record of {at}, which {others} called: {call}{last}"


def _mismatch(group: str, number: int, ranks: Sequence[Recorded], ends: Mapping[int, int]) -> Mismatch | None:
    """Return how ranks differ at a collective; `ends` is the last one of each rank."""
    called = {rank.rank: rank.calls[group, number] for rank in ranks if (group, number) in rank.calls}
    counts = Counter(_shown(call) for call in called.values())
    usual = counts.most_common(1)[0][0]
    others = tuple(rank for rank, call in called.items() if _shown(call) == usual)
    other = called[others[0]]
    apart = tuple(rank for rank, call in called.items() if _shown(call) != usual)
    if apart:
        return Mismatch(group, number, apart, called[apart[0]], others, other, None)
    # A full buffer drops its oldest records, so only a rank whose records end before this one lacks it.
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
    sizes = ", ".join(f"[{', '.join(map(_text, _items(size)))}]" for size in _items(entry.get("input_sizes")))
    created = entry.get("time_created_ns")
    is_done = bool(entry.get("retired")) or entry.get("state") == "completed"
    ended = _nanoseconds(entry.get("time_discovered_completed_ns"))
    return Call(operation, f"{types} {sizes}", _line(entry.get("frames")), _nanoseconds(created), is_done, ended)


def _nanoseconds(value: object) -> int:
    return value if isinstance(value, int) and abs(value) < MOST_NUMBER else 0


def _items(value: object) -> Sequence[object]:
    return value[:MOST_ITEMS] if isinstance(value, (list, tuple)) else ()


def _text(value: object) -> str:
    """Return a string or number of a file; other values are empty, because nested ones can be of any size."""
    if isinstance(value, str):
        return value if value.isprintable() else _printable(value)
    return str(value) if isinstance(value, int) and abs(value) < MOST_NUMBER else ""


def _printable(text: str) -> str:
    """Return a text without control characters, which a terminal would obey, and without halves of characters."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _line(frames: object) -> str:
    for frame in frames if isinstance(frames, (list, tuple)) else ():
        name = _own_file(_text(frame.get("filename"))) if isinstance(frame, dict) else ""
        if name:
            return f", {name}:{_text(frame.get('line'))}"
    return ""


@functools.lru_cache(maxsize=4096)
def _own_file(name: str) -> str:
    """Return the name of a file of the user's without its folder, or "" for one of a library."""
    return "" if _LIBRARY.search(name) else os.path.basename(name)
