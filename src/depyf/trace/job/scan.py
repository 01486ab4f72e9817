"""Reduce a rank's trace to the few facts by which ranks are compared, without keeping any text."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any, BinaryIO

from depyf.bytecode.records import dataclass
from depyf.model.user_line import UserLine
from depyf.trace import records, refusals, stages
from depyf.trace.job.dumping import SKIPPED
from depyf.trace.reader import Cause, Reader, Record

MOST_KNOWN = 200_000
"""The number of payloads whose digest without rank-specific names is cached, by their md5."""

_OF_RANK = re.compile(
    rb"0x[0-9a-f]{6,}|(?<= )\d+(?:\.\d+)? [num]?s\b"
    rb"|\d{9,}|(?<=cuda:)\d+|(?<=index=)\d+|rank_?\d+|(?:/[\w.@+-]+){3,}|\bc[0-9a-z]{51}\b"
    rb"|_[0-9a-f]{8}(?:_[0-9a-f]{4}){3}_[0-9a-f]{12}"
)
"""Text that differs between ranks but is no difference: addresses, times, devices, paths, and names made of these."""
_COLLECTIVE = re.compile(
    rb"(?P<name>\w+): \"(?P<value>[^\"\n]*)\" = torch\.ops\.(?:_c10d_functional|c10d_functional|c10d)\.(?P<op>\w+)"
    rb"[^\n(]*\((?P<arguments>[^\n)]*)\)"
)
_GROUP_SIZE = re.compile(
    rb"(?:all_gather_into_tensor|reduce_scatter_tensor|all_to_all)\w*[^\n(]*\([^\n)]*?, (\d{1,6}), "
)

SEPARATOR = "; "
"""Separates the collectives of a fact."""

TEXTS = {
    "dynamo_output_graph": "captured graph",
    "aot_joint_graph": "joint graph",
    "aot_forward_graph": "forward graph",
    "aot_inference_graph": "forward graph",
    "aot_backward_graph": "backward graph",
    "dynamo_cpp_guards_str": "guards",
    "inductor_post_grad_graph": "post-grad graph",
    "after_post_grad_graph": "post-grad graph",
    "inductor_output_code": "kernels",
    "compiled_autograd_graph": "compiled autograd graph",
    "graph_execution": "execution order",
}
"""Records whose text is compared, with a name for each."""
_WITH_COLLECTIVES = ("inductor_post_grad_graph", "after_post_grad_graph", "aot_inference_graph", "aot_forward_graph")
COLLECTIVES, TENSORS, RUNTIMES = (
    "inductor_collective_schedule",
    "inductor_tlparse_tensor_meta",
    "inductor_runtime_and_tensor_meta",
)
_TIMES = re.compile(rb'"[^"\n]*(?:runtime|_ns|_us|_ms)[^"\n]*": *[\d.eE+-]+')


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact about a rank: its compile, its kind, its number among that kind, and a description.

    key: is compared instead of `words` if these are incomplete: the digest of a text.
    """

    compile: str
    kind: str
    number: int
    words: str
    key: str = ""


@dataclass(slots=True)
class Rank:
    """A trace in short. `facts` is the digest of its facts; equal ranks have equal digests.

    seconds: the duration of each compile.
    unfinished: the compiles that had begun and not ended at the end of the trace.
    ended: the time of the last record, in seconds of the year.
    began: the time at which the last unfinished compile began.
    """

    path: str
    rank: int | None
    facts: str
    size: int
    records: int
    omitted: dict[str, int]
    seconds: dict[str, float]
    unfinished: tuple[str, ...]
    last: str
    span: float
    group_size: int
    error: str = ""
    began: float = 0.0
    ended: float = 0.0


@dataclass(slots=True)
class _Scan:
    facts: list[Fact] = field(default_factory=list)
    numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    open: dict[str, str] = field(default_factory=dict)
    began: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    strings: dict[int, str] = field(default_factory=dict)
    group_size: int = 0
    last: str = ""
    first_time: float | None = None
    last_time: float = 0.0

    def add(self, compile_id: str, kind: str, words: str, key: str = "") -> None:
        """Add a fact of the rank.

        Args:
            compile_id: the compile that it is about.
            kind: the kind of fact.
            words: the fact in words.
            key: a digest, if the words do not hold all of it.
        """
        number = self.numbers.get((compile_id, kind), 0)
        self.numbers[compile_id, kind] = number + 1
        self.facts.append(Fact(compile_id, kind, number, words, key))

    def take(self, record: Record) -> None:
        self.first_time = record.seconds if self.first_time is None else self.first_time
        self.last_time = record.seconds
        kind, details = records.record_kind(record.metadata)
        if kind == stages.INTERNED_STRING:
            text, number = record.metadata["str"]
            self.strings[int(number)] = str(text)
            return
        if kind in stages.ONLY_BOOKKEEPING:
            return
        compile_id = records.record_compile_id(record.metadata)
        name = str(compile_id) if compile_id is not None else ""
        self.last = f"{kind} of {name}" if name else kind
        if kind == stages.FRAME_STARTS:
            self._start(name, details, record.metadata)
            self.began[name] = record.seconds
        elif kind == stages.FRAME_ENDS:
            self._end(name, details)
        elif record.payload is not None:
            self._payload(name, kind, record)

    def _start(self, name: str, details: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
        stack = records.user_stack(details.get("stack"), self.strings, _bare)
        here = stack[-1] if stack else UserLine("", 0)
        self.functions[name] = f"{here.function}, {_short(here.filename)}:{here.line}"
        self.open[name] = here.function
        self.add(name, "compile", self.functions[name])

    def _end(self, name: str, metrics: Mapping[str, Any]) -> None:
        self.open.pop(name, None)
        spent = metrics.get("entire_frame_compile_time_s")
        if isinstance(spent, (int, float)) and 0 <= spent < 1e7:
            self.seconds[name] = self.seconds.get(name, 0.0) + spent
        failure = records.failure_kind(metrics)
        if failure:
            first = str(metrics.get("fail_reason") or "").partition("\n")[0]
            self.add(name, "failure", f"{failure}: {without_rank(first)}")
        self.add(name, "operations", str(metrics.get("graph_op_count")))
        self.add(name, "guard count", str(metrics.get("guard_count")))

    def _payload(self, name: str, kind: str, record: Record) -> None:
        payload = record.payload or b""
        if kind == stages.RECOMPILE_REASONS:
            clauses = [clause for entry in refusals.recompile(record.text or "").entries for clause in entry.clauses]
            self.add(name, "recompile", without_rank("; ".join(clauses)))
        elif kind == stages.BREAK_REASON and records.is_break(record.text or ""):
            broken = records.graph_break(record.text or "", 0, _bare)
            at = f" at {_short(broken.where.filename)}:{broken.where.line}" if broken.where is not None else ""
            self.add(name, "graph break", without_rank(f"{' '.join(broken.reason.split())}{at}"))
        elif kind in stages.CACHES:
            cache, outcome = stages.CACHES[kind]
            self.add(name, f"{cache} cache", outcome)
        elif kind == COLLECTIVES:
            ops = [op.rpartition("ops.")[2].removesuffix(".default") for op in records.collectives(record.text or "")]
            self.add(name, "collectives", SEPARATOR.join(ops))
        elif kind in (TENSORS, RUNTIMES):
            self.add(name, "tensor metadata", "", _digest(_TIMES.sub(b"", payload)))
        elif kind in TEXTS:
            if kind in _WITH_COLLECTIVES and b"c10d" in payload:
                self._collectives(name, payload)
            self.add(name, TEXTS[kind], "", _text_key(record.digest, payload))

    def _collectives(self, name: str, payload: bytes) -> None:
        operations = [
            f"{match['op'].decode()}({match['value'].decode('utf-8', 'replace')})"
            for match in _COLLECTIVE.finditer(payload)
            if match["op"] != b"wait_tensor"
        ]
        if operations:
            self.add(name, "sizes of collectives", SEPARATOR.join(operations))
        for size in _GROUP_SIZE.finditer(payload):
            self.group_size = max(self.group_size, int(size[1]))


def scan(stream: BinaryIO, path: str, rank: int | None) -> tuple[Rank, tuple[Fact, ...]]:
    """Return the facts of a rank, from its trace that is open for reading bytes.

    Args:
        stream: the trace.
        path: its path.
        rank: the rank that wrote it, if known.

    Raises:
        OSError: it cannot be read.
    """
    reader, collected = Reader(SKIPPED), _Scan()
    for record in reader.read(stream):
        try:
            collected.take(record)
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError):
            reader.omitted[Cause.NOT_UNDERSTOOD] += 1
    digest = hashlib.md5(usedforsecurity=False)
    for fact in sorted(collected.facts, key=_order):
        digest.update(repr((fact.compile, fact.kind, fact.number, fact.words, fact.key)).encode("utf-8", "replace"))
    rank_result = Rank(
        path,
        rank,
        digest.hexdigest(),
        reader.size,
        reader.records,
        {cause.value: count for cause, count in reader.omitted.items()},
        collected.seconds,
        tuple(f"{name} of {function}" for name, function in collected.open.items()),
        collected.last,
        round(collected.last_time - (collected.first_time or 0.0), 6),
        collected.group_size,
        began=max((collected.began[name] for name in collected.open), default=0.0),
        ended=collected.last_time,
    )
    return rank_result, tuple(collected.facts)


def _order(fact: Fact) -> tuple[str, str, int]:
    return fact.compile, fact.kind, fact.number


def _bare(filename: str, line: int, function: str) -> UserLine:
    return UserLine(filename, line, "", function)


def _short(filename: str) -> str:
    return filename.replace("\\", "/").rpartition("/")[2]


def without_rank(text: str) -> str:
    """Return a text without the parts that always differ between ranks."""
    return _OF_RANK.sub(b"*", text.encode("utf-8", "replace")).decode("utf-8", "replace")


def _digest(payload: bytes) -> str:
    return hashlib.md5(payload, usedforsecurity=False).hexdigest()


_KNOWN: dict[str, str] = {}
"""For the md5 of a payload, the digest of its content without rank-specific names. Most ranks write the same text."""


def _text_key(digest: str, payload: bytes) -> str:
    known = _KNOWN.get(digest) if digest else None
    if known is None:
        if len(_KNOWN) >= MOST_KNOWN:
            _KNOWN.clear()
        known = _KNOWN[digest] = _digest(_OF_RANK.sub(b"*", payload))
    return known
