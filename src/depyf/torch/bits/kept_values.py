"""Compare the values of one launch that two runs kept: `depyf bits --again` runs this module."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from depyf.torch.bits.gaps import Gap, gap
from depyf.torch.bits.kept import KeptLaunch, KeptLine, first_line, load_launch


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
    line = first_line(ours, theirs) if difference is not None else None
    data = None if difference is None else {"gap": _gap_json(difference), "line": _line_json(line)}
    return {"text": list(_lines(difference, line)), "data": data}


def _gap_json(difference: Gap) -> dict[str, Any]:
    data = asdict(difference)
    return {**data, "at": list(difference.at), "histogram": {str(key): n for key, n in difference.histogram.items()}}


def _line_json(line: tuple[str, KeptLine, Gap] | None) -> dict[str, Any] | None:
    return None if line is None else {"number": line[1].number, "text": line[1].text, "node": line[0]}


def _lines(difference: Gap | None, line: tuple[str, KeptLine, Gap] | None) -> Iterator[str]:
    if difference is None:
        yield "  values: equal when both programs ran again, so a program is not deterministic, or the probes change its bits"
        return
    yield f"  values: {difference}, the first at index {list(difference.at)}"
    if difference.histogram:
        parts = (f"{number} by {_class(step)}" for step, number in difference.histogram.items())
        yield f"  in units in the last place: {', '.join(parts)}"
    if line is not None:
        yield f"  kernel line {line[1].number}, node {line[0]}: {line[1].text}"


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
