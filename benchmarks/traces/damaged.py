"""Reads damaged traces: `python -m benchmarks.traces.damaged [COUNT] [SEED]`.

Each mutation of a small trace must be read without an exception, with all records before the first damaged byte, and
its dump must write nothing outside of its directory. Prints the seeds that fail, and the slowest.
"""

from __future__ import annotations

import gzip
import io
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from depyf.trace.job.dumping import dump_trace
from depyf.trace.job.scan import scan
from depyf.trace.reader import Reader

DATA = Path(__file__).resolve().parents[2] / "tests" / "trace" / "data"
_RECORD = re.compile(rb"\n(?!\t)")
_JSON_VALUE = re.compile(rb'(?<=": )(?:\d+|"[^"\n]*"|\[[^\[\]\n]*\]|\{[^{}\n]*\}|null)')
MOST_PAYLOAD = 600
STRANGE = (
    *(
        b"null",
        b"[]",
        b"{}",
        b"-1",
        b"1e999",
        b'"x"',
        b"[[[]]]",
        b'"../../../etc/passwd"',
        b'"<script>alert(1)</script>"',
    ),
    *(b"99999999999999999999", b'"' + b"n" * 20_000 + b'"', b"[{}]", b"true", b'"\\u0000"'),
)
_OTHERS = (b"INFO:root:step 3", b"\x00\xff\xfe\x80", b"\tstray", b"V9999 99:99:99.999999 1 x:1] {}", b"V0101 {", b"\r")

Mutation = Callable[[bytes, random.Random], tuple[bytes, int]]


def base() -> bytes:
    """Return a trace with records of all kinds and short payloads."""
    text = gzip.decompress((DATA / "small_2.13.log.gz").read_bytes())
    kept = []
    for record in _RECORD.split(text):
        head, _, body = record.partition(b"\n")
        if b"chromium_event" not in head and len(body) <= MOST_PAYLOAD and len(head) < 3000:
            kept.append(record)
    return b"\n".join(kept) + b"\n"


def _cut(text: bytes, chance: random.Random) -> tuple[bytes, int]:
    at = chance.randrange(len(text))
    return text[:at], at


def _flip(text: bytes, chance: random.Random) -> tuple[bytes, int]:
    places = sorted(chance.sample(range(len(text)), chance.randint(1, 20)))
    damaged = bytearray(text)
    for place in places:
        damaged[place] = chance.randrange(256)
    return bytes(damaged), places[0]


def _insert(text: bytes, chance: random.Random) -> tuple[bytes, int]:
    at = chance.randrange(len(text))
    return text[:at] + chance.randbytes(chance.randint(1, 400)) + text[at:], at


def _delete(text: bytes, chance: random.Random) -> tuple[bytes, int]:
    at = chance.randrange(len(text))
    return text[:at] + text[at + chance.randint(1, 2000) :], at


def _line(text: bytes, chance: random.Random) -> tuple[bytes, int]:
    at = chance.choice([match.end() for match in re.finditer(rb"\n", text)])
    return text[:at] + chance.choice(_OTHERS) + b"\n" + text[at:], at


def _value(text: bytes, chance: random.Random) -> tuple[bytes, int]:
    value = chance.choice(list(_JSON_VALUE.finditer(text)))
    return text[: value.start()] + chance.choice(STRANGE) + text[value.end() :], value.start()


def _windows(text: bytes, chance: random.Random) -> tuple[bytes, int]:
    at = chance.randrange(len(text))
    return text[:at] + text[at:].replace(b"\n", b"\r\n"), at


def _shuffled(text: bytes, chance: random.Random) -> tuple[bytes, int]:
    records = _RECORD.split(text)
    first = chance.randrange(len(records) - 1)
    rest = records[first:]
    chance.shuffle(rest)
    return b"\n".join([*records[:first], *rest]), len(b"\n".join(records[:first]))


MUTATIONS: tuple[Mutation, ...] = (_cut, _flip, _insert, _delete, _line, _value, _value, _windows, _shuffled)


def failures(count: int, first_seed: int = 0, *, dumped: int = 20) -> Iterator[str]:
    """Yield what is wrong with the reading of mutations; every `dumped`th gets a dump, too."""
    text = base()
    whole = list(Reader().read(io.BytesIO(text)))
    slowest = (0.0, 0)
    for seed in range(first_seed, first_seed + count):
        chance = random.Random(seed)
        damaged, damage = chance.choice(MUTATIONS)(text, chance)
        began = time.process_time()
        payloads = {record.offset: record.payload for record in Reader().read(io.BytesIO(damaged))}
        scan(io.BytesIO(damaged), "x", 0)
        spent = time.process_time() - began
        slowest = max(slowest, (spent, seed))
        # The record that the damage begins in, and the one before, whose end it may be, are not judged.
        before = [record for record, after in zip(whole, whole[2:], strict=False) if after.offset <= damage]
        if any(record.offset not in payloads or payloads[record.offset] != record.payload for record in before):
            yield f"seed {seed}: records before byte {damage} are missing"
        if seed % dumped == 0:
            yield from _dump(damaged, seed)
    print(f"slowest: {1000 * slowest[0]:.0f} ms of CPU for {len(text) / 1e3:.0f} kB, seed {slowest[1]}")


def _dump(damaged: bytes, seed: int) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "inside")
        dump_trace(io.BytesIO(damaged), "damaged.log", output)
        if [path.name for path in Path(folder).iterdir()] != ["inside"]:
            yield f"seed {seed}: a file was written outside"


def main() -> None:
    """Read mutations, and say which fail."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    problems = list(failures(count, seed))
    print("\n".join(problems))
    print(f"{count} damaged traces, {len(problems)} failures")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
