"""The values of one launch of a recorded run, kept in a file so that those of two runs can be compared."""

from __future__ import annotations

from collections.abc import Mapping
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
    """The values of a launch: its results in the order of the log's row, and the lines that lead to each, by node."""

    results: list[Tensor]
    lines: list[dict[str, KeptLine]] = field(default_factory=list)


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
    lines = [_lines_to(result.parameter, launch) for result in row.results]
    torch.save({"results": results, "lines": lines}, folder / VALUES)


def _lines_to(parameter: str, launch: LaunchRun) -> dict[str, tuple[int, str, Tensor]]:
    """Return the lines of a kernel that lead to a result: the number, the text and the sorted values, by node."""
    lines: dict[str, tuple[int, str, Tensor]] = {}
    followed = launch.followed
    texts = followed.kernel.text.splitlines() if followed is not None else []
    for line in leading_to([parameter], followed) if followed is not None and parameter else ():
        number = line.statement.line
        values = launch.lines.get(number)
        if values is not None and not line.is_store and len(line.computes) == 1:
            lines[line.computes[0]] = (number, texts[number - 1].strip(), values.sort()[0])
    return lines


def load_launch(folder: Path) -> KeptLaunch:
    """Return the values of the launch that a run kept.

    Raises:
        FileNotFoundError: the run kept none, because the launch did not happen.
    """
    saved: dict[str, Any] = torch.load(folder / VALUES)
    lines = [{node: KeptLine(*line) for node, line in leading.items()} for leading in saved["lines"]]
    return KeptLaunch(saved["results"], lines)


@dataclass(slots=True)
class LinesCompared:
    """The lines of two kernels, aligned by the nodes that they compute.

    first: the first node that a line of both kernels computes with other values, and the line; None if all are equal.
    equal: the nodes before it whose values are equal.
    """

    first: tuple[str, KeptLine] | None = None
    equal: list[str] = field(default_factory=list)


def compared_lines(ours: Mapping[str, KeptLine], theirs: Mapping[str, KeptLine]) -> LinesCompared:
    """Compare the lines that lead to a result in two kernels.

    Values are sorted first: the kernels may compute them in any order.
    """
    outcome = LinesCompared()
    for node, line in ours.items():
        other = theirs.get(node)
        if other is None or len(other.values) != len(line.values):
            continue
        if gap(line.values, other.values) is not None:
            outcome.first = (node, line)
            break
        outcome.equal.append(node)
    return outcome
