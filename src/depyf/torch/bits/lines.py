"""Find the line of a C++ kernel at which its values are not eager's any more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from depyf.bytecode.records import dataclass
from depyf.links.inductor.line import Line
from depyf.torch.bits.edges import LaunchRun
from depyf.torch.numerics.inside import leading_to

_HALVES = (torch.float16, torch.bfloat16)


@dataclass(frozen=True, slots=True)
class WrongLine:
    """A line of a kernel, the node that it computes, and whether only the rounding to the node's dtype is missing."""

    number: int
    text: str
    node: str
    is_unrounded: bool


def wrong_line(launch: LaunchRun, parameter: str, values: Mapping[str, Any]) -> WrongLine | None:
    """Return the first line, of those that lead to a wrong result, whose values are not those of its node.

    Args:
        launch: the launch, with the values of its lines.
        parameter: the kernel's parameter that holds the wrong result.
        values: the values of the graph's nodes, by name.
    """
    followed = launch.followed
    if followed is None or not launch.lines:
        return None
    rows = followed.kernel.text.splitlines()
    for line in leading_to([parameter], followed):
        number = line.statement.line
        node = _node_of(line, values)
        heard = launch.lines.get(number)
        if not node or heard is None or not len(heard) or _is_load(line) or _agree(heard, values[node]):
            continue
        row = rows[number - 1].strip()
        half = values[node].dtype in _HALVES
        is_unrounded = half and _agree(heard.to(values[node].dtype).double(), values[node])
        return WrongLine(number, row, node, is_unrounded)
    return None


def _is_load(line: Line) -> bool:
    """Return whether a line only reads memory: a value that is not rounded yet is no difference there."""
    return not line.is_store and any("ptr" in name or name.startswith("local_buffer") for name in line.names)


def _node_of(line: Line, values: Mapping[str, Any]) -> str:
    floats = (name for name in line.computes if isinstance(values.get(name), Tensor))
    return next((name for name in floats if values[name].is_floating_point()), "")


def _agree(heard: Tensor, expected: Tensor) -> bool:
    """Return whether a line's values, in any order and possibly repeated, are values of its node."""
    right = expected.detach().double().flatten().sort()[0]
    ours = heard.sort()[0]
    if len(ours) == len(right):
        return bool(((ours == right) | (ours.isnan() & right.isnan())).all())
    finite = ours[~ours.isnan()]
    return bool(torch.isin(finite, right).all()) and (len(finite) == len(ours) or bool(right.isnan().any()))
