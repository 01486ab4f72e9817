"""The reader of trace files: records as they are written, and what is made of anything else."""

from __future__ import annotations

import hashlib
import io

import pytest

from depyf.trace import reader as reader_module
from depyf.trace.reader import Cause, Reader, Record

HEAD = "V0718 15:30:01.875000 42 torch/_dynamo/utils.py:1900] "


def read(text: str | bytes) -> tuple[list[Record], dict[Cause, int]]:
    reader = Reader()
    records = list(reader.read(io.BytesIO(text.encode() if isinstance(text, str) else text)))
    return records, dict(reader.omitted)


def with_payload(payload: str, digest: str | None = None) -> str:
    payload_hash = digest or hashlib.md5(payload.encode()).hexdigest()
    body = "\n".join(f"\t{line}" for line in payload.split("\n"))
    return f'{HEAD}{{"a": {{}}, "has_payload": "{payload_hash}"}}\n{body}\n'


def test_a_record_and_its_payload_are_read_back() -> None:
    records, omitted = read(f'{HEAD}{{"b": 1}}\n' + with_payload("x\n\n\ty\n") + f'{HEAD}{{"c": 2}}\n')
    assert [record.metadata.get("b") or record.metadata.get("c") for record in records] == [1, None, 2]
    assert records[1].text == "x\n\n\ty\n" and records[1].digest
    assert (records[0].process, omitted) == (42, {})
    assert records[0].seconds == 86400 * (7 * 31 + 18) + 15 * 3600 + 30 * 60 + 1.875


def test_an_empty_payload_is_one() -> None:
    records, omitted = read(with_payload(""))
    assert (records[0].text, omitted) == ("", {})


@pytest.mark.parametrize(
    ("text", "records", "cause"),
    [
        ("INFO:root:hello\n" + with_payload("x"), 1, Cause.OTHER_LINE),
        (f"{HEAD}{{not json\n" + with_payload("x"), 1, Cause.NOT_JSON),
        (with_payload("x", "0" * 32), 1, Cause.WRONG_DIGEST),
        (f'{HEAD}{{"a": {{}}, "has_payload": "0"}}\n' + with_payload("x"), 2, Cause.NO_PAYLOAD),
        ("\tx\n" + with_payload("x"), 1, Cause.STRAY_PAYLOAD),
        (f'{HEAD}{{"b": 1}}\n\tx\n' + with_payload("x"), 2, Cause.STRAY_PAYLOAD),
        (with_payload("x") + f'{HEAD}{{"b":', 1, Cause.CUT_OFF),
        (with_payload("x") + with_payload("long\ntext")[:-4], 2, Cause.CUT_OFF),
    ],
)
def test_what_is_broken_is_counted_by_its_cause(text: str, records: int, cause: Cause) -> None:
    good_records, omitted = read(text)
    assert len(good_records) == records and omitted[cause] == 1
    assert any(record.text == "x" for record in good_records)


def test_lines_of_other_loggers_inside_of_a_payload_are_left_out_of_it() -> None:
    whole = with_payload("one\ntwo")
    records, omitted = read(whole.replace("\ttwo", "WARNING: something\n\ttwo"))
    assert records[0].text == "one\ntwo" and records[0].digest
    assert omitted == {Cause.OTHER_LINE: 1}


def test_line_ends_of_windows_are_read() -> None:
    records, omitted = read((with_payload("one\ntwo") + f'{HEAD}{{"b": 1}}\n').replace("\n", "\r\n"))
    assert [record.text for record in records] == ["one\ntwo", None]
    assert omitted == {}


def test_blocks_end_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    text = with_payload("one\ntwo\n") * 3 + f'{HEAD}{{"b": 1}}\n'
    whole, _ = read(text)
    for size in range(1, 60):
        monkeypatch.setattr(reader_module, "BLOCK", size)
        records, omitted = read(text)
        assert [(record.text, record.offset) for record in records] == [
            (record.text, record.offset) for record in whole
        ]
        assert omitted == {}


def test_a_record_that_is_too_long_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "BLOCK", 64)
    monkeypatch.setattr(reader_module, "MOST_BYTES", 256)
    records, omitted = read(with_payload("x") + with_payload("y" * 1000) + with_payload("z"))
    assert [record.text for record in records] == ["x", "z"]
    assert omitted == {Cause.TOO_LONG: 1}
