"""Find the line of a C++ kernel at which its values are not eager's any more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from depyf.bytecode.records import dataclass
from depyf.links.inductor.line import Line
from depyf.torch.bits.edges import LaunchRun
from depyf.torch.bits.gaps import gap
from depyf.torch.numerics.inside import leading_to

_HALVES = (torch.float16, torch.bfloat16)

_NEAR = 0.01
"""Sorted values of a line are those of a node if they differ by at most this part of each value.

before: `in_out_ptr0[x0] = tmp_acc0`, with a sum that Inductor stores for a loop of the same kernel: it has no node
after: the line computes `sum_1`, the only node of the kernel whose sorted values are near
"""
_NEAR_ZERO = 0.001
"""The same for values near zero, as a part of the mean size: a sum may lose all its digits."""


@dataclass(frozen=True, slots=True)
class WrongLine:
    """A line of a kernel, the node that it computes, and whether only the rounding to the node's dtype is missing."""

    number: int
    text: str
    node: str
    is_unrounded: bool


def wrong_line(
    launch: LaunchRun, parameter: str, values: Mapping[str, Any], nodes: tuple[str, ...]
) -> WrongLine | None:
    """Return the first line, of those that lead to a wrong result, whose values are not those of its node.

    Args:
        launch: the launch, with the values of its lines.
        parameter: the parameter of the wrong result.
        values: eager's value of each node.
        nodes: the nodes that the launch computes.
    """
    for line, node, heard in _judged(launch, parameter, values, nodes):
        if not _agree(heard, values[node]):
            half = values[node].dtype in _HALVES
            is_unrounded = half and _agree(heard.to(values[node].dtype).double(), values[node])
            return WrongLine(line.statement.line, _text(launch, line), node, is_unrounded)
    return None


def judged_lines(launch: LaunchRun, parameter: str, values: Mapping[str, Any], nodes: tuple[str, ...]) -> list[int]:
    """Return the lines that `wrong_line` compares with their nodes, in order.

    Args:
        launch: the launch, with the values of its lines.
        parameter: the parameter of the wrong result.
        values: eager's value of each node.
        nodes: the nodes that the launch computes.
    """
    return [line.statement.line for line, _, _ in _judged(launch, parameter, values, nodes)]


def _judged(
    launch: LaunchRun, parameter: str, values: Mapping[str, Any], nodes: tuple[str, ...]
) -> Iterator[tuple[Line, str, Tensor]]:
    """Yield each line that leads to a result and has a known node, with the node and the line's values."""
    followed = launch.followed
    for line in leading_to([parameter], followed) if followed is not None else ():
        heard = launch.lines.get(line.statement.line)
        if followed is None or heard is None or not len(heard) or _is_load(line):
            continue
        node = _node_of(line, values)
        if not node and followed.kernel.language == "cpp":
            heard = _with_twins(launch, line)
            node = _nearest(heard, {name: values[name] for name in nodes if isinstance(values.get(name), Tensor)})
        if node:
            yield line, node, heard


def _text(launch: LaunchRun, line: Line) -> str:
    followed = launch.followed
    return followed.kernel.text.splitlines()[line.statement.line - 1].strip() if followed is not None else ""


def _with_twins(launch: LaunchRun, line: Line) -> Tensor:
    """Return the values of a line and of those with the same text: the loop over the rest of a row repeats a body."""
    rows = launch.followed.kernel.text.splitlines() if launch.followed is not None else []
    row = _text(launch, line)
    twins = (number for number in launch.lines if number <= len(rows) and rows[number - 1].strip() == row)
    return torch.cat([launch.lines[number] for number in sorted(twins)])


def _nearest(heard: Tensor, values: Mapping[str, Tensor]) -> str:
    """Return the node whose values a line computes, if that is clear from the values, or ""."""
    near = list(_near_nodes(heard.sort()[0], values))
    equal = next((name for name in near if _agree(heard, values[name])), "")
    is_clear = all(gap(values[name], values[near[0]].reshape(values[name].shape)) is None for name in near[1:])
    return equal or (near[0] if near and is_clear else "")


def _near_nodes(ours: Tensor, values: Mapping[str, Tensor]) -> Iterator[str]:
    for name, value in values.items():
        if value.is_floating_point() and value.numel() == len(ours):
            right = value.detach().double().flatten().sort()[0].nan_to_num()
            limit = _NEAR * right.abs() + _NEAR_ZERO * right.abs().mean()
            if bool(((ours.nan_to_num() - right).abs() <= limit).all()):
                yield name


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
