"""Damaged and hostile recorder files: `python -m benchmarks.hung_jobs.mutations`.

Pickles and JSON of the recorder are changed at random, some with operations that would call a harmless function of this
module. Each file is read and judged beside the dumps of two good ranks. Then files of growing sizes are read.
"""

from __future__ import annotations

import json
import pickle
import pickletools
import random
import sys
import time

from benchmarks.bar import Bar, none_of, report
from depyf.trace.job.evidence import Evidence
from depyf.trace.job.hang import verdict_of
from depyf.trace.job.recorder import in_words, mismatches, recorded
from depyf.trace.job.verdict import verdict_lines

MUTATIONS = 10_000
WARM = 500
"""The files that are read first: Python executes the modules that it imports then."""
SIZES = (500, 1000, 2000, 4000, 8000)
MOST_GROWTH = 2.0
"""The most that the time of an entry may differ between the smallest and the largest file."""
EVENTS = ("pickle.find_class", "exec", "os.system", "subprocess.Popen", "open")
executed: list[str] = []
"""The calls of `mark`. It stays empty if nothing in a file is executed."""


def mark(word: str) -> str:
    """Note that a file made Python call this function."""
    executed.append(word)
    return word


class Calls:
    """A value whose pickle calls `mark` when Python's own reader loads it."""

    def __reduce__(self) -> tuple[object, ...]:
        """Return the call."""
        return mark, ("called",)


def dump(count: int, rank: int = 0) -> dict[str, object]:
    """Return a recorder's dump with some collectives."""
    entries = [
        {
            "record_id": number,
            "collective_seq_id": number + 1,
            "process_group": ("0", "default_pg"),
            "profiling_name": f"gloo:{'broadcast' if number % 3 else 'all_reduce'}",
            "input_sizes": [[number % 5, 4]],
            "input_dtypes": ["Float"],
            "is_p2p": False,
            "time_created_ns": 1_700_000_000_000_000_000 + number * 1_000_000,
            "state": "completed",
            "retired": number + 1 < count,
            "frames": [
                {"filename": f"/home/me/train_{depth}.py", "line": number % 40, "name": "f"} for depth in range(4)
            ],
        }
        for number in range(count)
    ]
    groups = {"": {"name": "", "desc": "", "ranks": "[0, 1, 2]"}}
    return {"version": "2.10", "pg_config": groups, "entries": entries, "rank": rank}


def mutated(whole: bytes, other: bytes, seeded: random.Random) -> bytes:
    """Return a file with some random changes: bytes, cuts, repeated parts, operations, parts of another file."""
    data = bytearray(whole)
    for _ in range(seeded.randint(1, 4)):
        place = seeded.randrange(len(data))
        match seeded.randrange(6):
            case 0:
                data[place] = seeded.randrange(256)
            case 1:
                del data[place : place + seeded.randint(1, 50)]
            case 2:
                data[place:place] = data[max(0, place - 40) : place] * seeded.randint(1, 9)
            case 3:
                data[place:place] = seeded.choice(OPERATIONS)
            case 4:
                begin = seeded.randrange(len(other))
                data[place:place] = other[begin : begin + 60]
            case _:
                data = data[: max(place, 1)] if seeded.random() < 0.2 else data
        if not data:
            data = bytearray(b"\x80")
    return bytes(data)


_CALL = b"cbenchmarks.hung_jobs.mutations\nmark\n(S'called'\ntR"
OPERATIONS = (
    *(opcode.code.encode("latin-1") for opcode in pickletools.opcodes),
    _CALL,
    b"\x8c\x1dbenchmarks.hung_jobs.mutations\x8c\x04mark\x93\x8c\x01a\x85R",
    b"(ibenchmarks.hung_jobs.mutations\nmark\n",
    b"r\xff\xff\xff\x7f",
    b"\x8b\xff\xff\xff\x7f",
    b"2" * 50,
    b"[" * 50,
)


def seeds() -> tuple[bytes, ...]:
    """Return files that are changed: pickles of several protocols, JSON, and a pickle that makes a call."""
    hostile = dump(3)
    hostile["entries"] = [Calls(), *dump(3)["entries"]]  # type: ignore[misc]
    pickles = [pickle.dumps(dump(6), protocol) for protocol in (0, 2, 4, 5)]
    return (*pickles, json.dumps(dump(6)).encode(), pickle.dumps(hostile, 2), pickle.dumps(hostile, 4))


def judge(data: bytes) -> bool:
    """Read a file, judge it beside two good ranks, and return whether it could be read."""
    mutated_dump = recorded("trace_1", data, 1_700_000_100.0)
    ranks = [recorded(f"trace_{rank}", GOOD, 1_700_000_100.0) for rank in (0, 2)]
    dumps = [rank for rank in (*ranks, mutated_dump) if rank is not None]
    words = [in_words(mismatch) for mismatch in mismatches(dumps)]
    verdict = verdict_of(Evidence({rank.rank: rank for rank in dumps}))
    words += verdict_lines(verdict) if verdict is not None else []
    "\n".join(words).encode("utf-8")
    return mutated_dump is not None


GOOD = pickle.dumps(dump(6), 2)


def seconds_of_entry(count: int) -> float:
    """Return the seconds of the processor to read and judge a file, for each of its entries: the least of three."""
    data, times = pickle.dumps(dump(count), 2), []
    for _ in range(3):
        begin = time.process_time()
        judge(data)
        times.append(time.process_time() - begin)
    return min(times) / count


def main() -> None:
    """Print the bars."""
    seeded, files = random.Random(41), seeds()
    names: list[str] = []
    for _ in range(WARM):
        judge(mutated(seeded.choice(files), seeded.choice(files), seeded))
    sys.addaudithook(lambda event, values: names.append(f"{event} {values}") if event in EVENTS else None)
    errors, read = [], 0
    for number in range(MUTATIONS):
        data = mutated(files[number % len(files)], files[seeded.randrange(len(files))], seeded)
        try:
            read += judge(data)
        except Exception as error:  # noqa: BLE001 - this is what is counted
            errors.append(f"mutation {number}: {type(error).__name__}: {error}")
    ran = [*executed, *names]
    times = [seconds_of_entry(size) for size in SIZES]
    growth = times[-1] / times[0]
    note = f"{read} of them could be read"
    report(
        [
            none_of("changed recorder files that raise an exception", errors, f"{MUTATIONS} files", note),
            none_of("changed recorder files of which something is executed", ran, f"{MUTATIONS} files"),
            Bar(
                f"time of an entry in a file of {SIZES[-1]} entries, compared with one of {SIZES[0]}",
                f"{growth:.2f}",
                growth <= MOST_GROWTH,
                note=f"{times[-1] * 1e6:.0f} us an entry",
            ),
        ]
    )


if __name__ == "__main__":
    main()
