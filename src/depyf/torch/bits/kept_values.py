"""Compare the values of one launch that two runs kept: `depyf bits --again` runs this module."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from depyf.torch.bits.gaps import Gap, gap
from depyf.torch.bits.kept import KeptLaunch, KeptLine, LinesCompared, compared_lines, load_launch


def compared_values(ours: KeptLaunch, theirs: KeptLaunch, position: tuple[int, int]) -> dict[str, Any]:
    """Return how the values of a launch differ in two runs: lines of text, and data.

    Args:
        ours: the values of the first run.
        theirs: those of the second run.
        position: the result to compare, by its place among the results of each launch.
    """
    left, right = ours.results[position[0]], theirs.results[position[1]]
    if left.shape != right.shape or left.dtype != right.dtype:
        return {"text": ["  values: the second runs gave another dtype or shape"], "data": None}
    difference = gap(left, right)
    if difference is None:
        return {"text": [_EQUAL], "data": None}
    lines = compared_lines(ours.lines[position[0]], theirs.lines[position[1]])
    data = {"gap": _gap_json(difference), "line": _line_json(lines.first), "equal_lines": lines.equal}
    return {"text": list(_lines(difference, lines)), "data": data}


_EQUAL = "  values: equal when both programs ran again, so the probes in the kernels changed their bits"


def _gap_json(difference: Gap) -> dict[str, Any]:
    data = asdict(difference)
    return {**data, "at": list(difference.at), "histogram": {str(key): n for key, n in difference.histogram.items()}}


def _line_json(line: tuple[str, KeptLine] | None) -> dict[str, Any] | None:
    return None if line is None else {"number": line[1].number, "text": line[1].text, "node": line[0]}


def _lines(difference: Gap, lines: LinesCompared) -> Iterator[str]:
    yield f"  values: {difference}, the first at index {list(difference.at)}"
    if difference.histogram:
        parts = (f"{number} by {_class(step)}" for step, number in difference.histogram.items())
        yield f"  in units in the last place: {', '.join(parts)}"
    if lines.first is not None:
        yield f"  kernel line {lines.first[1].number}, node {lines.first[0]}: {lines.first[1].text}"
    elif lines.equal:
        yield f"  on the way to it both kernels compute {', '.join(lines.equal)} with equal bits"


def _class(step: int) -> str:
    return f"at most {step}" if step else "more"


def main() -> None:
    """Compare what two folders hold, and write the result."""
    wanted = json.loads(sys.argv[1])
    try:
        ours, theirs = (load_launch(Path(folder)) for folder in sys.argv[2:4])
    except FileNotFoundError as error:
        print(f"the kernel did not run again: {Path(str(error.filename)).name} is missing", file=sys.stderr)
        sys.exit(1)
    first, second = wanted["position"]
    Path(wanted["output"]).write_text(json.dumps(compared_values(ours, theirs, (first, second))), encoding="utf-8")


if __name__ == "__main__":
    main()
