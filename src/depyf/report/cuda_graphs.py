"""What torch says of the CUDA graphs of a compile: recorded, recorded again, one for each size, skipped. Plain data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

RECORDED, AGAIN, SIZES, SKIPPED = EVENTS = ("recorded", "recorded again", "sizes", "skipped")


@dataclass(frozen=True, slots=True)
class CudaGraph:
    """One thing that torch says of the CUDA graphs of a compile.

    `event` is one of `EVENTS`. `part` is `forward`, `backward` or `inference` where torch says so. `reason` is torch's:
    why it did not record, or record again; for `sizes` the sizes that have a graph of their own. `place` is the file,
    line and function of the user's that torch names. `seconds` is what recording took; only a trace has it.
    """

    event: str
    part: str = ""
    reason: str = ""
    place: tuple[str, int, str] | None = None
    seconds: float | None = None


def words(found: Iterable[CudaGraph]) -> list[str]:
    """Return what torch says of the CUDA graphs of a compile, a phrase each, equal ones once with their number.

    >>> twice = [CudaGraph("recorded", "forward", seconds=0.5)] * 2
    >>> words([*twice, CudaGraph("skipped", "backward", "mutated inputs")])
    ['forward recorded 2 times (1.000 s)', 'backward skipped: mutated inputs']
    """
    groups: dict[tuple[str, str, str], list[CudaGraph]] = {}
    for each in found:
        groups.setdefault((each.part, each.event, each.reason), []).append(each)
    return [_phrase(*key, own) for key, own in groups.items()]


def _phrase(part: str, event: str, reason: str, found: list[CudaGraph]) -> str:
    event = "one for the sizes" if event == SIZES else event
    often = f" {len(found)} times" if len(found) > 1 else ""
    times = [each.seconds for each in found if each.seconds is not None]
    took = f" ({sum(times):.3f} s)" if times else ""
    told = f"{' ' if event.endswith('sizes') else ': '}{reason}" if reason else ""
    return f"{part} {event}{often}{took}{told}".strip()
