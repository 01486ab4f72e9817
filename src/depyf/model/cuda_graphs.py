"""torch's reports on the CUDA graphs of a compile, as plain data: recorded, recorded again, sizes, skipped."""

from __future__ import annotations

from collections.abc import Iterable

from depyf.bytecode.records import dataclass
from depyf.model.codec import NUMBER, TEXT, Form, Record, Row, choice, named, nullable
from depyf.model.line_row import LINE
from depyf.model.user_line import UserLine

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


_PLACE = Form(
    LINE.schema,
    lambda place: None if place is None else LINE.write(UserLine(place[0], place[1], "", place[2])),
    lambda written: None if written is None else (written["file"], written["line"], written["function"]),
)
CUDA_GRAPH_ROWS = Record(
    CudaGraph,
    Row("event", choice(*EVENTS)),
    Row("part", TEXT, about="`forward`, `backward` or `inference`, if torch says so."),
    Row(
        "reason",
        TEXT,
        about="Why it was skipped or recorded again; for `sizes`, the sizes with a separate graph.",
    ),
    Row("where", _PLACE, "place"),
    Row("seconds", nullable(NUMBER), about="The time of the recording, if a trace has it."),
    about="A report of torch on a CUDA graph of the compile.",
)
CUDA_GRAPH = named("cuda_graph", CUDA_GRAPH_ROWS.form)


def words(cuda_graphs: Iterable[CudaGraph]) -> list[str]:
    """Return the reports on the CUDA graphs of a compile as phrases. Equal reports become one, with their number.

    >>> twice = [CudaGraph("recorded", "forward", seconds=0.5)] * 2
    >>> words([*twice, CudaGraph("skipped", "backward", "mutated inputs")])
    ['forward recorded 2 times (1.000 s)', 'backward skipped: mutated inputs']
    """
    groups: dict[tuple[str, str, str], list[CudaGraph]] = {}
    for cuda_graph in cuda_graphs:
        groups.setdefault((cuda_graph.part, cuda_graph.event, cuda_graph.reason), []).append(cuda_graph)
    return [_phrase(*key, reports) for key, reports in groups.items()]


def _phrase(part: str, event: str, reason: str, reports: list[CudaGraph]) -> str:
    event = "one for the sizes" if event == SIZES else event
    often = f" {len(reports)} times" if len(reports) > 1 else ""
    times = [cuda_graph.seconds for cuda_graph in reports if cuda_graph.seconds is not None]
    took = f" ({sum(times):.3f} s)" if times else ""
    detail = f"{' ' if event.endswith('sizes') else ': '}{reason}" if reason else ""
    return f"{part} {event}{often}{took}{detail}".strip()
