"""The dumps of torch's flight recorder: mismatches of ranks, and damaged or hostile files."""

from __future__ import annotations

import json
import pickle
import random
from pathlib import Path

import pytest
from click.testing import CliRunner

from depyf.cli.report import report
from depyf.trace.job.plain_pickle import plain_pickle
from depyf.trace.job.recorder import in_words, mismatches, recorded


def dump(*operations: str, size: int = 4) -> dict[str, object]:
    entries = [
        {
            "collective_seq_id": number,
            "process_group": ("0", "default_pg"),
            "profiling_name": f"gloo:{operation}",
            "input_sizes": [[size]],
            "input_dtypes": ["Float"],
            "is_p2p": False,
            "time_created_ns": number,
            "frames": [{"filename": "/home/me/train.py", "line": 10 * number, "name": "step"}],
        }
        for number, operation in enumerate(operations, start=1)
    ]
    return {"version": "2.10", "entries": entries}


def told(*dumps: dict[str, object]) -> list[str]:
    ranks = [recorded(f"trace_{rank}", pickle.dumps(data, 2)) for rank, data in enumerate(dumps)]
    return [in_words(mismatch) for mismatch in mismatches([rank for rank in ranks if rank is not None])]


def test_equal_ranks_have_no_mismatch() -> None:
    assert told(dump("all_reduce"), dump("all_reduce")) == []


def test_a_rank_that_skips_a_collective() -> None:
    (words,) = told(dump("all_reduce", "broadcast"), dump("all_reduce", "broadcast"), dump("all_reduce"))
    assert words == (
        "rank 2: no record of collective 2 of group 0, which ranks 0-1 called: broadcast(Float [4]), train.py:20"
        "; the last record there is all_reduce, train.py:10"
    )


def test_another_order_and_another_size() -> None:
    (words,) = told(dump("all_reduce"), dump("all_reduce"), dump("broadcast"))
    assert words.startswith("at collective 1 of group 0, rank 2 called broadcast(")
    (words,) = told(dump("all_reduce"), dump("all_reduce"), dump("all_reduce", size=8))
    assert "rank 2 called all_reduce(Float [8])" in words


def test_the_command_reads_a_folder_with_json_and_pickle(tmp_path: Path) -> None:
    (tmp_path / "trace_0").write_bytes(pickle.dumps(dump("all_reduce", "all_reduce")))
    (tmp_path / "trace_1.json").write_text(json.dumps(dump("all_reduce")))
    result = CliRunner().invoke(report, [str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert result.output.startswith("rank 1: no record of collective 2")


class Hostile:
    def __reduce__(self) -> tuple[object, ...]:
        return exec, ("raise SystemExit",)


def test_nothing_in_a_pickle_is_executed() -> None:
    with pytest.raises(ValueError, match="not allowed"):
        plain_pickle(pickle.dumps({"entries": [Hostile()]}))
    assert recorded("trace_0", pickle.dumps({"entries": [Hostile()]})) is None


def test_damaged_files_raise_nothing() -> None:
    seeded = random.Random(41)
    whole = (pickle.dumps(dump("all_reduce", "broadcast"), 2), json.dumps(dump("all_reduce")).encode())
    read = 0
    for number in range(2000):
        data = bytearray(whole[number % 2])
        for _ in range(seeded.randint(1, 4)):
            data[seeded.randrange(len(data))] = seeded.randrange(256)
        damaged = recorded("trace_0", bytes(data[: seeded.randint(1, len(data))] if number % 3 == 0 else data))
        if damaged is not None:
            list(map(in_words, mismatches([damaged])))
            read += 1
    assert 0 < read < 2000


@pytest.mark.parametrize("protocol", range(1, 6))
def test_plain_values_of_all_protocols(protocol: int) -> None:
    shared = ["a" * 300, 1, -1, 300, 70_000, 1 << 40, -(1 << 40), 1.5, None, True, False]
    value = {"a": shared, "b": (1,), "c": (1, 2), "d": (1, 2, 3), "e": tuple(range(9)), "f": {}, "g": (), "h": shared}
    assert plain_pickle(pickle.dumps(value, protocol)) == value


def test_keys_other_than_strings_are_refused() -> None:
    # All tuples of -1 and -2 of one length have one hash.
    with pytest.raises(ValueError, match="no string"):
        plain_pickle(pickle.dumps({(-1, -2): 1}))


@pytest.mark.parametrize("data", [b"\x80\x02Nr\xff\xff\xff\xff.", b"\x80\x02I" + b"9" * 10**6 + b"\n.", b"\x80\x02N"])
def test_small_files_cannot_ask_for_much(data: bytes) -> None:
    try:
        assert plain_pickle(data) is None
    except ValueError as error:
        assert str(error)


def test_names_cannot_move_the_cursor() -> None:
    hostile = dump("all_reduce")
    hostile["entries"][0]["profiling_name"] = "gloo:all\x1b[2J\ud800"  # type: ignore[index]
    damaged = recorded("trace_0", pickle.dumps(hostile, 4))
    assert damaged is not None
    assert next(iter(damaged.calls.values())).operation.startswith("all?[2J")
