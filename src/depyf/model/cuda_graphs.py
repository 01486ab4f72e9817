"""torch's reports on the CUDA graphs of a compile, as plain data: recorded, recorded again, sizes, skipped."""

from __future__ import annotations

from collections.abc import Iterable

from depyf.bytecode.records import dataclass

RECORDED, AGAIN, SIZES, SKIPPED = EVENTS = ("recorded", "recorded again", "sizes", "skipped")


@dataclass(frozen=True, slots=True)
class CudaGraph:
    """One report of torch on the CUDA graphs of a compile.

    event: one of `EVENTS`.
    part: `forward`, `backward` or `inference`, if torch names it.
    reason: torch's reason for not recording or for recording again; for `sizes` the sizes with their own graph.
    place: the file, line and function of the user's code that torch names.
    seconds: the time to record, which only a trace has.
    """

    event: str
    part: str = ""
    reason: str = ""
    place: tuple[str, int, str] | None = None
    seconds: float | None = None


def words(found: Iterable[CudaGraph]) -> list[str]:
    """Return the reports on the CUDA graphs of a compile as phrases. Equal reports become one, with their number.

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
