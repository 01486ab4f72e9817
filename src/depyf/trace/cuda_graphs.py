"""Parse torch's reports on CUDA graphs: in its log, in the metrics of a compile, and in its timeline."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from depyf.bytecode.patterns import pattern
from depyf.model.cuda_graphs import AGAIN, RECORDED, SIZES, SKIPPED, CudaGraph
from depyf.model.run import Compile, Dialect
from depyf.trace import stages
from depyf.trace.events import Timed

LOG = "cudagraphs_log"
"""The name of a record with a line of torch's log of CUDA graphs, which a live capture makes."""
METRIC = "cudagraph_skip_reason"

_ID = pattern(r"^\[(?P<id>[^\]\s]*)\] ")
_SKIPPED = pattern(r"^(?:(?:skipping|disabling) cudagraphs? (?:for (?P<part>backward) )?due to )+", re.IGNORECASE)
_RECORDED = pattern(
    r"^Recording function(?:=.*?, mode=(?P<mode>\w+)|=.*?, cuda_graph_id=\d+| \d+ of graph)", re.DOTALL
)
"""A recording. torch before 2.12 writes the name of the function without the mode."""
_AGAIN = pattern(r"^Re-recording function=.*?(?:, mode=(?P<mode>\w+))?, reason=(?P<reason>.*)", re.DOTALL)
_SIZES = pattern(r"^recording cudagraph tree for symint key (?P<sizes>.*)", re.IGNORECASE)
_STACK = pattern(r"\s*\.?\s*Found from\b|\.?\s*input name: ")
_FRAME = pattern(r'File "(?P<file>[^"\n]+)", line (?P<line>\d+), in (?P<function>\S+)')
_INPUT = pattern(r"input name: (?P<name>\w+)\.")
_DEVICE = pattern(r"device\(type='(\w+)', index=(\d+)\)")
_LISTED = pattern(r"^\[(?P<reasons>'[^']*'(?:, '[^']*')*)\]$")
PARTS = {"FORWARD": "forward", "BACKWARD": "backward", "INFERENCE": "inference"}
"""torch's names for the parts of a compile."""


def of_log(line: str, part: str = "") -> CudaGraph | None:
    """Return what a line of the log reports, or None if it is not relevant.

    part: the part of the compile that the line is about, if known from elsewhere.
    """
    text = _ID.sub("", line)
    if _SKIPPED.match(text):
        return of_reason(text, part)
    if recorded := _RECORDED.match(text):
        return CudaGraph(RECORDED, PARTS.get(recorded["mode"] or "", part))
    if again := _AGAIN.match(text):
        return CudaGraph(AGAIN, PARTS.get(again["mode"] or "", part), _reason(again["reason"]), _place(text))
    if sizes := _SIZES.match(text):
        return CudaGraph(SIZES, "", " ".join(sizes["sizes"].split()))
    return None


def of_reason(text: str, part: str = "") -> CudaGraph:
    """Return the skip that a text of torch's describes.

    before: `skipping cudagraphs due to mutated inputs (1 instances). Found from : \\n   File "m.py", line 7, in f`
    after: the reason `mutated inputs (1 instances)` at line 7 of `m.py`
    """
    begins = _SKIPPED.match(text)
    reason = text[begins.end() :] if begins else text
    part = part or (begins["part"] if begins and begins["part"] else "")
    return CudaGraph(SKIPPED, part, _reason(reason), _place(reason))


def note(compiled: Compile, kind: str, details: Mapping[str, Any], payload: str | None) -> None:
    """Add a record's report on CUDA graphs, if there is one. In a live capture, the log comes before the metrics.

    Args:
        compiled: the compile that the record is about.
        kind: torch's name for the record.
        details: the metadata of the record.
        payload: its payload, if it has one.
    """
    cuda_graph = None
    if kind == LOG and payload:
        # During a compile, torch's reports are about the kernels that it wrote last.
        kernels = (artefact.part for artefact in reversed(compiled.artefacts) if artefact.dialect is Dialect.KERNEL)
        cuda_graph = of_log(payload, str(details.get("part") or next(kernels, "")))
    elif (
        kind in (stages.FRAME_ENDS, stages.BACKWARD_ENDS)
        and isinstance(skip_reason := details.get(METRIC), str)
        and skip_reason
    ):
        cuda_graph = of_reason(skip_reason, "backward" if kind == stages.BACKWARD_ENDS else "")
    if cuda_graph is not None:
        _note(compiled, cuda_graph)


def note_recording(compiled: Compile, event: Timed) -> None:
    """Add a recording from the timeline."""
    is_backward = event.arguments.get("is_backward")
    part = "" if is_backward is None else "backward" if is_backward else "forward"
    _note(compiled, CudaGraph(RECORDED, part, seconds=event.seconds))


def _note(compiled: Compile, report: CudaGraph) -> None:
    known = (cuda_graph for cuda_graph in compiled.cuda_graphs if cuda_graph.event == report.event == SKIPPED)
    if not any(
        earlier.reason == report.reason and earlier.part in (report.part, "") or report.part == "" for earlier in known
    ):
        compiled.cuda_graphs.append(report)


def _reason(text: str) -> str:
    """Return a reason in one line, without stacks and addresses. Inputs have names."""
    first = " ".join(_STACK.split(text.strip(), maxsplit=1)[0].partition("\n")[0].split()).rstrip(".")
    listed = _LISTED.match(first)
    first = listed["reasons"].replace("'", "") if listed else first
    first = _DEVICE.sub(r"\1:\2", first)
    names = dict.fromkeys(match["name"] for match in _INPUT.finditer(text))
    return f"{first} ({', '.join(names)})" if names else first


def _place(text: str) -> tuple[str, int, str] | None:
    """Return the innermost line of the first stack in a text, or None."""
    innermost = None
    for frame in _FRAME.finditer(text):
        if innermost is not None and _INPUT.search(text, innermost.end(), frame.start()):
            break
        innermost = frame
    return (innermost["file"], int(innermost["line"]), innermost["function"]) if innermost else None
