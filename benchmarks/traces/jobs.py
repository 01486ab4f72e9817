"""Jobs with one injected difference: `python -m benchmarks.traces.jobs [COUNT] [SEED]`.

Each job is made of one rank's trace: times, process ids and addresses differ from rank to rank. One rank gets one
difference, which the report must name with the right rank and cause. A fifth of the jobs get none, and none may be
named.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from depyf.trace.job.files import find
from depyf.trace.job.groups import Divergence, job_of
from depyf.trace.job.work import scan_all

DATA = Path(__file__).resolve().parents[2] / "tests" / "trace" / "data"
_RECORD = re.compile(r"\n(?!\t)")
_HEAD = re.compile(r"^(V\d{4} \d\d:\d\d:)\d\d\.\d{6}( +)\d+")
_COLLECTIVE_SIZE = re.compile(r'(\w+: "[a-z]+\d*\[)(\d+)([^"]*" = torch\.ops\._c10d_functional\.)')


@dataclass(frozen=True)
class Written:
    """A record as it stands in a file: what is before its JSON, the JSON, and the payload."""

    prefix: str
    metadata: dict[str, Any]
    payload: str | None

    @property
    def kind(self) -> str:
        """Return the record's name, an artefact's own for an artefact."""
        name = next(iter(self.metadata))
        return str(self.metadata["artifact"]["name"]) if name == "artifact" else name

    @property
    def compile_id(self) -> tuple[object, object]:
        """Return the compile that the record is of."""
        return self.metadata.get("frame_id"), self.metadata.get("frame_compile_id")

    def text(self) -> str:
        """Return the record as it is written."""
        if self.payload is None:
            return f"{self.prefix}{json.dumps(self.metadata)}"
        digest = hashlib.md5(self.payload.encode(), usedforsecurity=False).hexdigest()
        body = self.payload.replace("\n", "\n\t")
        return f"{self.prefix}{json.dumps({**self.metadata, 'has_payload': digest})}\n\t{body}"


Records = list[Written]
Injection = Callable[[Records, random.Random], Records | None]


def parsed(text: str) -> Records:
    """Return the records of a trace."""
    records = []
    for record in _RECORD.split(text.removesuffix("\n")):
        head, _, body = record.partition("\n")
        prefix, _, written = head.partition("] {")
        metadata = json.loads("{" + written)
        payload = body.removeprefix("\t").replace("\n\t", "\n") if "has_payload" in metadata else None
        records.append(Written(prefix + "] ", metadata, payload))
    return records


def of_rank(records: Records, rank: int, chance: random.Random) -> Records:
    """Return the records as another rank of the same program writes them."""
    rewritten = []
    for record in records:
        prefix = _HEAD.sub(rf"\g<1>{chance.uniform(0, 59):09.6f}\g<2>{9000 + rank}", record.prefix)
        metadata = record.metadata
        if record.kind == "compilation_metrics":
            metadata = {"compilation_metrics": _scaled(metadata["compilation_metrics"], chance.uniform(0.9, 1.1))}
            metadata |= {key: value for key, value in record.metadata.items() if key != "compilation_metrics"}
        payload = record.payload
        if payload is not None:
            payload = re.sub(r"\b0x[0-9a-f]{8,}", lambda _: f"0x{chance.getrandbits(44):012x}", payload)
        rewritten.append(Written(prefix, metadata, payload))
    return rewritten


def _scaled(metrics: dict[str, Any], factor: float) -> dict[str, Any]:
    return {
        key: value * factor if key.endswith("_s") and isinstance(value, float) else value
        for key, value in metrics.items()
    }


def recompile(records: Records, chance: random.Random) -> Records | None:
    """Compile a function once more: its last compile again, with a reason, under the next number."""
    last = records[max(at for at, record in enumerate(records) if record.kind == "compilation_metrics")].compile_id
    last_records = [record for record in records if record.compile_id == last and record.kind != "recompile_reasons"]
    ids = {"frame_id": last[0], "frame_compile_id": int(str(last[1])) + 1, "attempt": 0}
    reason = f"{last[0]}/{last[1]}: tensor 'x' size mismatch at index 0. expected 16, actual 17"
    metadata = {"artifact": {"name": "recompile_reasons", "encoding": "json"}, **ids}
    return [
        *records,
        Written(last_records[0].prefix, metadata, reason),
        *(replace(record, metadata=record.metadata | ids) for record in last_records),
    ]


def guard(records: Records, chance: random.Random) -> Records | None:
    """Guard a value for something else."""
    return _changed(records, chance, "dynamo_cpp_guards_str", lambda text: text.replace("size=[", "size=[7, ", 1))


def cache(records: Records, chance: random.Random) -> Records | None:
    """Hit a cache that the others miss."""
    places = [at for at, record in enumerate(records) if record.kind.endswith("_cache_miss")]
    if not places:
        return None
    at = chance.choice(places)
    hit = {"artifact": {**records[at].metadata["artifact"], "name": records[at].kind.replace("miss", "hit")}}
    return [*records[:at], replace(records[at], metadata=records[at].metadata | hit), *records[at + 1 :]]


def order(records: Records, chance: random.Random) -> Records | None:
    """Schedule the collectives in another order."""

    def turned(text: str) -> str:
        ops = json.loads(text)
        return json.dumps(list(reversed(ops)), indent=0)

    return _changed(records, chance, "inductor_collective_schedule", turned)


def size(records: Records, chance: random.Random) -> Records | None:
    """Give a collective another size."""
    wanted = ("inductor_post_grad_graph", "after_post_grad_graph")
    kind = next((name for name in wanted if any(record.kind == name for record in records)), "")
    return _changed(records, chance, kind, lambda text: _COLLECTIVE_SIZE.sub(r"\g<1>9\2\g<3>", text, count=1))


def slow(records: Records, chance: random.Random) -> Records | None:
    """Take three times as long."""
    factor = chance.uniform(2.5, 4)
    return [
        replace(
            record,
            metadata=record.metadata | {"compilation_metrics": _scaled(record.metadata["compilation_metrics"], factor)},
        )
        if record.kind == "compilation_metrics"
        else record
        for record in records
    ]


def _changed(records: Records, chance: random.Random, kind: str, change: Callable[[str], str]) -> Records | None:
    places = [
        at
        for at, record in enumerate(records)
        if record.kind == kind and record.payload and change(record.payload) != record.payload
    ]
    if not places:
        return None
    at = chance.choice(places)
    return [*records[:at], replace(records[at], payload=change(records[at].payload or "")), *records[at + 1 :]]


INJECTIONS: dict[str, tuple[Injection | None, tuple[str, ...]]] = {
    "recompile": (recompile, ("recompile",)),
    "guard": (guard, ("guards",)),
    "cache": (cache, ("fx_graph cache", "aotautograd cache")),
    "collective order": (order, ("collectives",)),
    "collective size": (size, ("sizes of collectives",)),
    "slow rank": (slow, ("slow rank",)),
    "missing rank": (None, ("missing rank",)),
    "cut off": (None, ("stopped",)),
    "none": (None, ()),
}


def job(base: Records, kind: str, chance: random.Random, folder: Path) -> tuple[int, list[Divergence]]:
    """Write a job with one difference; return the rank that has it, and what the report names."""
    ranks = chance.randint(8, 64)
    chosen = chance.randrange(ranks - 1 if kind == "missing rank" else ranks)
    for rank in range(ranks):
        records = of_rank(base, rank, chance)
        injection = INJECTIONS[kind][0]
        if rank == chosen and injection is not None:
            records = injection(records, chance) or records
        text = "\n".join(record.text() for record in records) + "\n"
        if rank == chosen and kind == "cut off":
            text = text[: chance.randint(len(text) // 10, len(text) - 2)]
        if rank != chosen or kind != "missing rank":
            (folder / f"dedicated_log_torch_trace_rank_{rank}_x.log").write_text(text)
    scanned = scan_all(find([str(folder)]))
    return chosen, job_of(scanned.ranks, scanned.facts).divergences


def main() -> None:
    """Make jobs, and print how many differences were named."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    base, with_caches = (
        parsed(gzip.decompress((DATA / name).read_bytes()).decode())
        for name in ("ranks/dedicated_log_torch_trace_rank_0_x.log.gz", "small_2.13_inductor.log.gz")
    )
    right: Counter[tuple[str, bool]] = Counter()
    kinds = list(INJECTIONS)
    for number in range(seed, seed + count):
        chance = random.Random(number)
        kind = "none" if number % 5 == 0 else kinds[number % (len(kinds) - 1)]
        with tempfile.TemporaryDirectory() as folder:
            chosen, divergences = job(with_caches if kind == "cache" else base, kind, chance, Path(folder))
        named = [(divergence.kind, divergence.ranks) for divergence in divergences]
        is_right = named in [[(cause, str(chosen))] for cause in INJECTIONS[kind][1]] or (kind == "none" and not named)
        right[kind, is_right] += 1
        if not is_right:
            print(
                f"job {number}: {kind} of rank {chosen}; named:",
                [(divergence.kind, divergence.ranks, divergence.cause) for divergence in divergences],
            )
    for kind in kinds:
        print(f"{kind}: {right[kind, True]} of {right[kind, True] + right[kind, False]}")


if __name__ == "__main__":
    main()
