"""Compare the results of each launch of a kernel with the right values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from torch import Tensor

from depyf.bytecode.records import dataclass
from depyf.model.user_line import UserLine
from depyf.torch.bits.edges import LaunchRun, ModuleRun
from depyf.torch.bits.gaps import Gap, gap
from depyf.torch.bits.reference import is_near
from depyf.torch.numerics.places import user_line

_SEEDS = "inductor_seed"
EQUAL, DIFFERENT, NOT_COMPARED = "equal", "different", "not compared"


@dataclass(frozen=True, slots=True)
class Wrong:
    """A result of a launch with other bits: its parameter, its node, and the difference."""

    parameter: str
    node: str
    gap: Gap


@dataclass(slots=True)
class KernelResult:
    """A launch of a kernel: `status` is equal, different or not compared.

    graph, part, position: the graph, "forward" or "backward", and the place of the launch there.
    where: the user's line of its first result whose line is known.
    left_out: the results that could not be compared, with reasons.
    """

    kernel: str
    graph: int
    part: str
    position: int
    compared: int = 0
    wrong: list[Wrong] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    where: UserLine | None = None

    @property
    def status(self) -> str:
        """Return whether the bits of its results are equal, as far as they were compared."""
        if self.wrong:
            return DIFFERENT
        return EQUAL if self.compared else NOT_COMPARED


Values = Mapping[str, Any]


def kernel_results(run: ModuleRun, values: Values, graph: int) -> Iterator[KernelResult]:
    """Yield each launch of a module, compared with the values of the nodes.

    Args:
        run: a run of Inductor's module.
        values: the values of the graph's nodes, by name.
        graph: the number of the graph.
    """
    part = "backward" if run.is_backward else "forward"
    nodes = {node.name: node for node in run.module.graph.nodes}
    for position, launch in enumerate(run.runs):
        result = KernelResult(launch.kernel, graph, part, position)
        places = (user_line(nodes[node]) for _, node, _ in launch.results if node in nodes)
        result.where = next((place for place in places if place is not None), None)
        names = names_of(run, launch)
        for parameter, node, value in launch.results:
            if any(name.startswith(_SEEDS) for name in (node, *names)):
                result.left_out.append(f"{launch.kernel}: it draws seeds, and eager draws none")
                continue
            _compare(result, parameter, node, value, [values, {name: values.get(name) for name in names}])
        yield result


def names_of(run: ModuleRun, launch: LaunchRun) -> tuple[str, ...]:
    """Return the nodes that a launch computes, as far as they are known."""
    followed = launch.followed
    return followed.nodes if followed is not None and followed.nodes else run.computed.get(launch.launch.handle, ())


def _compare(result: KernelResult, parameter: str, node: str, value: Tensor, known: list[Values]) -> None:
    whole, inside = known
    label = parameter or "a result"
    expected = whole.get(node)
    difference = compared(value, expected) if isinstance(expected, Tensor) else None
    if isinstance(expected, Tensor) and difference is None and is_comparable(value, expected):
        result.compared += 1
        return
    # The result may be that of another node of the launch.
    tensors = ((name, other) for name, other in inside.items() if isinstance(other, Tensor))
    others = {name: other for name, other in tensors if is_comparable(value, other)}
    if any(compared(value, other) is None for other in others.values()):
        result.compared += 1
    elif difference is not None:
        result.compared += 1
        result.wrong.append(Wrong(parameter, node, difference))
    else:
        name = nearest_of(value, others)
        nearest = compared(value, others[name]) if name else None
        if nearest is not None and not node:
            result.compared += 1
            result.wrong.append(Wrong(parameter, name, nearest))
        else:
            result.left_out.append(f"{label} of {result.kernel}: no node of the graph has its values")


_CLEARLY = 16
"""A node is clearly the nearest if the next one is this many times as far away: `mean` and `mean + 1e-5` are near."""


def nearest_of(value: Tensor, others: Mapping[str, Tensor]) -> str:
    """Return the node whose values a result nearly has, or "" if there is none or it is not clear which.

    Args:
        value: the result.
        others: the values of the nodes of the launch, each of the same dtype and size as the result.
    """
    near = [name for name, other in others.items() if is_near(value.reshape(other.shape), other)]
    distances = {name: _distance(value, others[name]) for name in near}
    ranked = sorted(near, key=distances.__getitem__)
    is_clear = len(ranked) == 1 or (len(ranked) > 1 and _CLEARLY * distances[ranked[0]] < distances[ranked[1]])
    return ranked[0] if is_clear else ""


def _distance(value: Tensor, other: Tensor) -> float:
    ours, theirs = value.double().nan_to_num(), other.double().nan_to_num().reshape(value.shape)
    return float((ours - theirs).abs().max())


def is_comparable(value: Tensor, expected: Tensor) -> bool:
    """Return whether two tensors can hold the same values."""
    return value.dtype == expected.dtype and value.numel() == expected.numel()


def compared(value: Tensor, expected: Tensor) -> Gap | None:
    """Return how a result differs from the expected one; None also for results that cannot be compared.

    A kernel may write a result in another shape, and then in another order.
    """
    if not is_comparable(value, expected) or not value.numel():
        return None
    difference = gap(value.reshape(expected.shape), expected)
    if difference is None or value.shape == expected.shape or value.dtype.is_complex:
        return difference
    ours, theirs = value.flatten().sort()[0], expected.flatten().sort()[0]
    return difference if gap(ours, theirs) is not None else None


def first_of(results: list[KernelResult]) -> KernelResult | None:
    """Return the first launch with other bits."""
    return next((result for result in results if result.wrong), None)
