"""Read a trace file record by record, in linear time and bounded memory, whatever bytes it contains.

A record is a line of glog followed by JSON. If the JSON has `has_payload`, the payload follows, with a tab before each
of its lines. Everything else is left out and counted by cause.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field
from enum import Enum
from typing import Any, BinaryIO

from depyf.bytecode.records import dataclass

BLOCK = 1 << 20
"""Bytes read at a time."""
MOST_BYTES = 64 << 20
"""The longest record that is read, because the reader holds one record in memory."""

_NEXT_RECORD = re.compile(rb"\n(?!\t)")
_HEAD = re.compile(
    rb"[VDIWECF](?P<month>\d\d)(?P<day>\d\d) (?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d\.\d{1,9}) +"
    rb"(?P<process>\d{1,18}) [^\n\]]{0,4096}\] (?P<json>\{[^\n]*)"
)


class Cause(Enum):
    """Why something in a file is not in the report, or is in doubt."""

    OTHER_LINE = "lines of other loggers"
    NOT_JSON = "records with invalid JSON"
    WRONG_DIGEST = "payloads that differ from their md5 (kept)"
    NO_PAYLOAD = "records without their payload"
    STRAY_PAYLOAD = "payload lines without a record"
    TOO_LONG = f"records longer than {MOST_BYTES >> 20} MiB"
    CUT_OFF = "records truncated at the end of the file"
    DAMAGED = "damaged ends of compressed files"
    NOT_UNDERSTOOD = "records with unexpected content"


@dataclass(slots=True)
class Record:
    """One record: its content, its payload, its time, and the process that wrote it.

    digest: the md5 of the payload; "" if it does not match the one that torch wrote.
    seconds: since the beginning of the year, because torch does not write the year.
    offset: the position of the record in the file, in bytes.
    """

    metadata: Mapping[str, Any]
    payload: bytes | None
    digest: str
    seconds: float
    process: int
    offset: int

    @property
    def text(self) -> str | None:
        """Return the payload as text."""
        return None if self.payload is None else self.payload.decode("utf-8", "replace")


@dataclass(slots=True)
class Reader:
    """Reads one file; `omitted` counts what was left out, by cause, and `size` the bytes that were read.

    skipped: the first name in the JSON of records that are not needed.
    wanted: such a record is needed after all if its payload contains one of these.
    """

    skipped: tuple[bytes, ...] = ()
    wanted: tuple[bytes, ...] = ()
    omitted: Counter[Cause] = field(default_factory=Counter)
    size: int = 0
    records: int = 0
    _ends_amid: bool = False
    """Whether the file ends in the middle of a line."""

    def read(self, stream: BinaryIO) -> Iterator[Record]:
        """Yield the records of a file that is open for reading bytes."""
        pending: _Pending | None = None
        for offset, piece, is_last in self._pieces(stream):
            line, _, body = piece.partition(b"\n")
            head = _HEAD.match(line)
            if head is None:
                self._other(line, body)
                if body and pending is not None:
                    # A line of another logger came between a record and the rest of its payload.
                    pending.bodies.append(body)
                continue
            if pending is not None and (record := self._finished(pending)) is not None:
                yield record
            pending = _Pending(head, offset, [body] if body else [], is_last)
        if pending is not None and (record := self._finished(pending)) is not None:
            yield record

    def _pieces(self, stream: BinaryIO) -> Iterator[tuple[int, bytes, bool]]:
        """Yield each line without a leading tab together with the following lines with one, and its position."""
        held, offset = b"", 0
        for block in iter(lambda: self._block(stream), b""):
            self.size += len(block)
            searched = max(len(held) - 1, 0)
            held += block
            begin = 0
            # The bytes after the last line break decide whether a record ends there.
            for end in _NEXT_RECORD.finditer(held, searched, len(held)):
                if end.end() == len(held):
                    break
                yield offset + begin, held[begin : end.start()], False
                begin = end.end()
            held, offset = held[begin:], offset + begin
            if len(held) > MOST_BYTES:
                held, offset = self._too_long(stream, held, offset)
        self._ends_amid = not held.endswith(b"\n")
        yield offset, held.removesuffix(b"\n"), True

    def _block(self, stream: BinaryIO) -> bytes:
        try:
            return stream.read(BLOCK)
        except EOFError:
            self.omitted[Cause.DAMAGED] += 1
            return b""

    def _too_long(self, stream: BinaryIO, held: bytes, offset: int) -> tuple[bytes, int]:
        """Skip a record that is too long; return the following bytes and their position."""
        self.omitted[Cause.TOO_LONG] += 1
        last = held[-1:]
        offset += len(held)
        for block in iter(lambda: self._block(stream), b""):
            self.size += len(block)
            begin = _NEXT_RECORD.search(last + block)
            if begin is not None and begin.end() < len(last + block):
                return (last + block)[begin.end() :], offset + begin.end() - len(last)
            last = block[-1:]
            offset += len(block)
        return b"", offset

    def _other(self, line: bytes, body: bytes) -> None:
        if line.startswith(b"\t"):
            self.omitted[Cause.STRAY_PAYLOAD] += 1
        elif line.strip():
            self.omitted[Cause.OTHER_LINE] += 1

    def _finished(self, pending: _Pending) -> Record | None:
        self.records += 1
        head = pending.head
        written = head["json"]
        if written.startswith(self.skipped) and not self._is_wanted(pending):
            return None
        metadata = _json_of(written)
        if metadata is None:
            self.omitted[self._cause(pending, Cause.NOT_JSON)] += 1
            return None
        payload, digest = None, ""
        if "has_payload" in metadata and pending.bodies:
            payload, digest = self._payload(pending, str(metadata["has_payload"]))
        elif "has_payload" in metadata:
            # An empty payload is a line with only a tab. If it is missing, a part of the file is missing.
            self.omitted[Cause.CUT_OFF if pending.is_last else Cause.NO_PAYLOAD] += 1
        elif pending.bodies:
            self.omitted[Cause.STRAY_PAYLOAD] += 1
        return Record(metadata, payload, digest, _seconds(head), int(head["process"]), pending.offset)

    def _is_wanted(self, pending: _Pending) -> bool:
        return any(wanted in body for wanted in self.wanted for body in pending.bodies)

    def _cause(self, pending: _Pending, otherwise: Cause) -> Cause:
        return Cause.CUT_OFF if pending.is_last and self._ends_amid else otherwise

    def _payload(self, pending: _Pending, digest: str) -> tuple[bytes, str]:
        """Return a payload and its md5, or "" if the payload does not match it."""
        body = pending.bodies[0] if len(pending.bodies) == 1 else b"\n".join(pending.bodies)
        payload = body.removeprefix(b"\t").replace(b"\n\t", b"\n")
        if hashlib.md5(payload, usedforsecurity=False).hexdigest() == digest:
            return payload, digest
        if b"\r" in payload:
            plain = payload.replace(b"\r\n", b"\n").removesuffix(b"\r")
            if hashlib.md5(plain, usedforsecurity=False).hexdigest() == digest:
                return plain, digest
            payload = plain
        self.omitted[self._cause(pending, Cause.WRONG_DIGEST)] += 1
        return payload, ""


@dataclass(slots=True)
class _Pending:
    head: re.Match[bytes]
    offset: int
    bodies: list[bytes]
    is_last: bool


def _json_of(written: bytes) -> dict[str, Any] | None:
    try:
        data = json.loads(written.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _seconds(head: re.Match[bytes]) -> float:
    """Return the time of a record since the beginning of a year, with months of 31 days: only the order matters."""
    days = 31 * int(head["month"]) + int(head["day"])
    return 86400.0 * days + 3600 * int(head["hour"]) + 60 * int(head["minute"]) + float(head["second"])
