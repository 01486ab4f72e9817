"""The values of one launch of a recorded run, kept in a file so that those of two runs can be compared."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from depyf.bytecode.records import dataclass
from depyf.model.bits_log import LaunchRow
from depyf.torch.bits.edges import LaunchRun, cloned
from depyf.torch.bits.gaps import gap
from depyf.torch.numerics.inside import leading_to

VALUES = "bits_values.pt"
"""The file in the folder of a dump."""


@dataclass(frozen=True, slots=True)
class Place:
    """A launch of a run: the number of the module, the number of its call, and the number of the launch in the call."""

    module: int
    call: int
    launch: int

    def __str__(self) -> str:
        return f"{self.module}.{self.call}.{self.launch}"


def read_place(text: str) -> Place:
    """Return the place that a text such as `3.0.12` names.

    Raises:
        ValueError: the text has another form.
    """
    module, call, launch = map(int, text.split("."))
    return Place(module, call, launch)


@dataclass(slots=True)
class KeptLine:
    """The values of a line of a kernel, sorted, with the line's number and text, by the node that it computes."""

    number: int
    text: str
    values: Tensor


@dataclass(slots=True)
class KeptLaunch:
    """The values of a launch: its results in the order of the log's row, and its lines by node, in order."""

    results: list[Tensor]
    lines: dict[str, KeptLine] = field(default_factory=dict)


def save_launch(folder: Path, launch: LaunchRun, row: LaunchRow) -> None:
    """Write the values of a finished launch into the folder of a dump.

    Args:
        folder: the folder.
        launch: the launch, with its results and the values of its lines.
        row: the row of the launch in the log.

    Raises:
        OSError: the file cannot be written.
    """
    results = [cloned(value).cpu() for _, _, value in launch.results]
    lines: dict[str, tuple[int, str, Tensor]] = {}
    wanted = [result.parameter for result in row.results if result.parameter]
    texts = launch.followed.kernel.text.splitlines() if launch.followed is not None else []
    for line in leading_to(wanted, launch.followed) if launch.followed is not None else ():
        number = line.statement.line
        values = launch.lines.get(number)
        if values is not None and not line.is_store and len(line.computes) == 1:
            lines[line.computes[0]] = (number, texts[number - 1].strip(), values.sort()[0])
    torch.save({"results": results, "lines": lines}, folder / VALUES)


def load_launch(folder: Path) -> KeptLaunch:
    """Return the values of the launch that a run kept.

    Raises:
        FileNotFoundError: the run kept none, because the launch did not happen.
    """
    saved: dict[str, Any] = torch.load(folder / VALUES)
    return KeptLaunch(saved["results"], {node: KeptLine(*line) for node, line in saved["lines"].items()})


@dataclass(slots=True)
class LinesCompared:
    """The lines of two kernels, aligned by the nodes that they compute.

    first: the first node that a line of both kernels computes with other values, and the line; None if all are equal.
    equal: the nodes before it whose values are equal.
    """

    first: tuple[str, KeptLine] | None = None
    equal: list[str] = field(default_factory=list)


def compared_lines(ours: KeptLaunch, theirs: KeptLaunch) -> LinesCompared:
    """Compare the lines of two kernels. Values are sorted first: the kernels may compute them in any order."""
    outcome = LinesCompared()
    for node, line in ours.lines.items():
        other = theirs.lines.get(node)
        if other is None or len(other.values) != len(line.values):
            continue
        if gap(line.values, other.values) is not None:
            outcome.first = (node, line)
            break
        outcome.equal.append(node)
    return outcome
