"""Where the tests of debuggers break, by kind of file.

`pattern` is of file names, `text` stands in the line, `seen` is an expression over the variables of that line and
`value` what it is when the line is reached.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from depyf.torch.adapters import lacking, seams


@dataclass(frozen=True)
class Place:
    """A line to break at."""

    kind: str
    backend: str
    pattern: str
    text: str
    seen: str
    value: str

    def find(self, directory: Path) -> tuple[Path, int]:
        """Return the file in a dump and the number of the line."""
        for path in sorted(directory.glob(self.pattern), key=_first_number):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
                if self.text in line and not line.lstrip().startswith("#"):
                    return path, number
        raise AssertionError(f"no line with {self.text!r} in {self.pattern} of {directory}")


def _first_number(path: Path) -> int:
    """Return the number of the graph: torch counts on through a whole process."""
    match = re.search(r"\d+", path.name)
    return int(match[0]) if match else 0


PLACES = (
    Place(
        "transformed code",
        "eager",
        "__transformed_code_0_for_stepped.py",
        "    if ",
        "b.tolist()",
        "[1.0, 1.0, 1.0, 1.0]",
    ),
    Place(
        "resume function",
        "eager",
        f"__transformed_code_0_for_{seams.RESUME_PREFIX}stepped*.py",
        "__compiled_fn_",
        "x.tolist()",
        "[0.75, 0.75, 0.75, 0.75]",
    ),
    Place("captured graph", "eager", "*.Captured_Graph.0.py", "abs_1 + 1", "abs_1.tolist()[0]", "3.0"),
    Place("forward graph", "aot_eager", "*.Forward_graph.0.py", "div: ", "add.tolist()[0]", "4.0"),
    Place("backward graph", "aot_eager", "*.Backward_graph.0.py", "sgn: ", "primals_1.tolist()[0]", "3.0"),
    Place(
        "AOTAutograd's wrapper",
        "aot_eager",
        "*.AOT_runtime_wrapper.0.py",
        "fw_outs = all_outs",
        "len(all_outs)",
        "2",
    ),
    Place("Inductor's wrapper", "inductor", "*.kernel_0.py", "args.clear()", "primals_1.tolist()[0]", "3.0"),
)


def places_of(backend: str) -> list[Place]:
    """Return the places in the files of a backend; a file that this torch's dumps do not have is not among them."""
    missing = {"AOTAutograd's wrapper"} if lacking.wrappers() else set()
    return [place for place in PLACES if place.backend == backend and place.kind not in missing]
