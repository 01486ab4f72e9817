"""Find the rank whose tensor has another size, when the transport of a rank found it and aborted the process."""

from __future__ import annotations

import re
from collections import Counter
from math import prod

from depyf.trace.job.evidence import Evidence
from depyf.trace.job.recorder import Call, Recorded
from depyf.trace.job.verdict import Cause, Verdict, make_verdict, named

_TENSOR = re.compile(r"(\w+) \[([\d, ]*)\]")
_BYTES = {
    **dict.fromkeys(("Byte", "Char", "Bool"), 1),
    **dict.fromkeys(("Short", "Half", "BFloat16"), 2),
    **dict.fromkeys(("Int", "Float"), 4),
    **dict.fromkeys(("Long", "Double", "ComplexFloat"), 8),
}
"""The bytes of an element, by the name of its type in the recorder."""


def size_clash(evidence: Evidence) -> Verdict | None:
    """Return the verdict of a rank that called a collective with another size, or None.

    The aborted rank leaves no dump. Its transport expected one size and received another, in parts of a tensor. A
    survivor whose last call differs from its earlier ones by this ratio is the cause; otherwise the aborted rank is.
    """
    for rank, end in evidence.ended.items():
        received, expected = end.sizes
        if not received or not expected or rank in evidence.recorded:
            continue
        last = {dump.rank: dump for dump in evidence.recorded.values() if dump.calls}
        for dump in last.values():
            call, usual = _last_and_usual(dump)
            if usual and _bytes(call) * expected == _bytes_of(usual) * received:
                text = f"{_called(dump, call)}, earlier with {usual}; rank {rank} received {received} bytes and "
                return make_verdict(Cause.SHAPE, [dump.rank], call.place, f"{text}expected {expected} of each part")
        if last:
            first = next(iter(last.values()))
            call, _ = _last_and_usual(first)
            text = f"{named([rank])} used another size: it received {received} bytes and expected {expected} of each "
            text += f"part; r{_called(first, call)[1:]}, as before"
            is_sure = len(last) + 1 >= len(first.ranks)
            return make_verdict(Cause.SHAPE, [rank], call.place, text, is_sure=is_sure)
    return None


def _called(dump: Recorded, call: Call) -> str:
    return f"{named([dump.rank])} called {call.operation}({call.tensors}){call.line}"


def _last_and_usual(dump: Recorded) -> tuple[Call, str]:
    """Return the last call of a rank, and the other tensors of most of its earlier calls from the same line, or ""."""
    (group, number), call = next(reversed(dump.calls.items()))
    counts = Counter(
        other.tensors
        for (other_group, _), other in dump.calls.items()
        if other_group == group and other is not call and (other.operation, other.line) == (call.operation, call.line)
    )
    usual = counts.most_common(1)[0][0] if counts else ""
    return call, usual if usual != call.tensors else ""


def _bytes(call: Call) -> int:
    return _bytes_of(call.tensors)


def _bytes_of(tensors: str) -> int:
    """Return the size of a collective's first tensor in bytes; 0 if its type is unknown."""
    match = _TENSOR.search(tensors)
    if match is None:
        return 0
    return _BYTES.get(match[1], 0) * prod(int(number) for number in match[2].split(",") if number.strip())
