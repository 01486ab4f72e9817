"""The line of a fused kernel in which a result goes wrong: what each line gives, beside what the nodes give eagerly."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from depyf.report.kernels.evaluate import is_accumulator
from depyf.report.kernels.lines import Launched, Line
from depyf.report.kernels.probes import MOST_VALUES
from depyf.report.kernels.suspects import suspects
from depyf.torch.adapters.inductor_modules import writes_triton
from depyf.torch.kernels.interpreter import interpreting
from depyf.torch.numerics.against_eager import Comparison
from depyf.torch.numerics.comparing import Tolerance
from depyf.torch.numerics.places import user_line
from depyf.torch.numerics.probing import Ran, probing
from depyf.torch.numerics.recording import GraphCall
from depyf.torch.numerics.report import KernelLine, Kind, Part

_TOLERANCES = {torch.float64: 1e-7, torch.float16: 1e-2, torch.bfloat16: 5e-2}
_TOLERANCE = 1e-4
"""How far a line's values may be from a node's, relative to their size: kernels round less often than eager does."""

_NAN, _MOST = 1.7e300, 1.6e300
_NAMED = re.compile(r"\b(?:inf|infinity|nan)\b|quiet_NaN", re.IGNORECASE)
_FEW = 2
"""A line with no more different values than these is the same as many a node."""


@dataclass(slots=True)
class Inside:
    """The first line of each kind in which the kernels of a graph go wrong, by kind and part."""

    found: dict[tuple[Kind, Part], KernelLine] = field(default_factory=dict)

    def hear(self, ran: Ran) -> None:
        """Look at a launch that has run."""
        part = Part.BACKWARD if ran.probed.is_backward else Part.FORWARD
        for kind, is_it in ((Kind.NAN, torch.isnan), (Kind.INFINITE, torch.isinf)):
            if (kind, part) not in self.found:
                line = next(_strange(ran, is_it), None)
                if line is not None:
                    self.found[kind, part] = _told(ran, part, line, _node_of(line, ran), _counted(ran, line, kind, is_it))
        if (Kind.DIFFERENT, part) not in self.found:
            different = _different(ran)
            if different is not None:
                line, node, values = different
                self.found[Kind.DIFFERENT, part] = _told(ran, part, line, node, values)

    def of(self, kind: Kind, part: Part) -> KernelLine | None:
        """Return the line in which something begins that was found in a graph: the captured one begins forward."""
        parts = [Part.BACKWARD] if part is Part.BACKWARD else [Part.FORWARD, Part.BACKWARD]
        return next((self.found[kind, each] for each in parts if (kind, each) in self.found), None)


def look_inside(call: GraphCall, backend: Callable[..., Any] | str, *, backward: bool) -> Inside:
    """Compile and run the graph of a call once more, with probes in its kernels, and return where they go wrong.

    Triton's kernels run in Triton's interpreter.
    """
    inside = Inside()
    with ExitStack() as stack:
        if writes_triton() and importlib.util.find_spec("triton") is not None:
            stack.enter_context(interpreting())
        stack.enter_context(probing(inside.hear))
        Comparison(call, backend, Tolerance(), backward=backward).run_compiled()
    return inside


def _told(ran: Ran, part: Part, line: Line, node: str, values: str) -> KernelLine:
    kernel, number = ran.launched.kernel, line.statement.line
    graph_node = next((each for each in ran.probed.module.graph.nodes if each.name == node), None)
    where = user_line(graph_node) if graph_node is not None else None
    text = kernel.text.splitlines()[number - 1].strip()
    return KernelLine(kernel.name, kernel.language, part, number, text, node, where, values)


def _node_of(line: Line, ran: Ran) -> str:
    if line.nodes:
        return line.nodes[0]
    return next((each.node for each in suspects(ran.launched, ran.probed.graph) if each.line is line), "")


def _counted(ran: Ran, line: Line, kind: Kind, is_it: Callable[[Tensor], Tensor]) -> str:
    values = ran.values[line.statement.line]
    return f"{int(is_it(values).sum())} of its {values.numel()} values are {kind.value}"


def _strange(ran: Ran, is_it: Callable[[Tensor], Tensor]) -> Iterator[Line]:
    """Yield the lines that give what none that they take gives, and that do not name it."""
    strange: set[str] = set()
    for line in ran.launched.lines:
        values = ran.values.get(line.statement.line)
        taken = bool(strange & set(line.names))
        # What a loop gathers is not looked at while it is gathered.
        found = bool(is_it(values).any()) if values is not None else taken
        strange.difference_update(() if is_accumulator(line.targets[0] if line.targets else "") else line.targets)
        strange.update(line.targets if found else ())
        text = ast.unparse(line.statement.value)
        if found and values is not None and not taken and not _is_load(line) and not _NAMED.search(text):
            yield line


def _is_load(line: Line) -> bool:
    return any("ptr" in name or name.startswith("local_buffer") for name in line.names) and not line.is_store


def _different(ran: Ran) -> tuple[Line, str, str] | None:
    """Return the line in which a result of a launch becomes another than its node's, the node, and how far it is."""
    wrong = [name for name in ran.arguments if _is_result(name) and not _is_right(name, ran)]
    lines = list(_leading_to(wrong, ran.launched)) if wrong else []
    for line in lines:
        apart = _apart(line, ran)
        if apart is not None and apart[0] > _tolerance(ran.probed.nodes[apart[1]]):
            return line, apart[1], f"relative to the size of {apart[1]}, at most {apart[0]:.3g} from what eager gives"
    open_ones = {id(each.line): each for each in suspects(ran.launched, ran.probed.graph)}
    for line in lines:
        if id(line) in open_ones and not _is_of_some_node(line, ran):
            return line, open_ones[id(line)].node, "no node of the graph gives its values"
    if not lines:
        return None
    last = next((each for each in reversed(lines) if each.is_store), lines[-1])
    return last, last.nodes[0] if last.nodes else "", "what it writes is not what eager gives"


def _is_result(name: str) -> bool:
    return "out_ptr" in name


def _is_right(name: str, ran: Ran) -> bool:
    """Return whether a result of a launch is its node's, or, where that is not known, any node's."""
    value, node = ran.arguments[name], ran.launched.after.get(name, "")
    if not isinstance(value, Tensor):
        return True
    named = [node] if node else ran.launched.nodes or tuple(ran.probed.nodes)
    nodes = [right for each in named if isinstance(right := ran.probed.nodes.get(each), Tensor)]
    same_size = [each for each in nodes if each.numel() == value.numel()]
    return any(_farthest(value.reshape(each.shape), each) <= _tolerance(each) for each in same_size)


def _leading_to(wrong: list[str], found: Launched) -> Iterator[Line]:
    """Yield the lines that some results of a launch are computed by, in order; all where none is seen to write them."""
    stores = [each for each in found.lines if each.is_store and set(each.pointers) & set(wrong)]
    wanted, kept = set(wrong), []
    for line in reversed(found.lines if stores else []):
        own = set(line.pointers if line.is_store else line.targets)
        if own & wanted:
            kept.append(line)
            if not line.is_store and not is_accumulator(line.targets[0]):
                wanted -= own
            wanted.update(line.names)
    yield from reversed(kept) if stores else found.lines


def _apart(line: Line, ran: Ran) -> tuple[float, str] | None:
    """Return how far the values of a line are from its nearest node, and that node; None where it is not known."""
    values = ran.values.get(line.statement.line)
    nodes = [each for each in line.computes if isinstance(ran.probed.nodes.get(each), Tensor)]
    if values is None or not nodes:
        return None
    return min((_distance(values, ran.probed.nodes[each]), each) for each in nodes)


def _is_of_some_node(line: Line, ran: Ran) -> bool:
    """Return whether a line gives the values of a node: then it is right, and only not understood."""
    values = ran.values.get(line.statement.line)
    if values is None or len(values.unique()) <= _FEW:
        return False
    nodes = [each for each in ran.probed.nodes.values() if isinstance(each, Tensor)]
    return any(_distance(values, each) <= _tolerance(each) for each in nodes)


def _tolerance(node: Tensor) -> float:
    return _TOLERANCES.get(node.dtype, _TOLERANCE)


def _plain(values: Tensor) -> Tensor:
    """Return values as float64, with what is not finite far from all that is."""
    return values.detach().cpu().double().nan_to_num(_NAN, _MOST, -_MOST)


def _farthest(ours: Tensor, theirs: Tensor) -> float:
    """Return how far two tensors are from each other, element by element, relative to their size."""
    if not ours.numel():
        return 0.0
    left, right = _plain(ours), _plain(theirs)
    return float(((left - right).abs() / (right.abs() + _size(right))).max())


def _size(values: Tensor) -> float:
    ordinary = values[values.abs() < _MOST]
    found = float(ordinary.square().mean().sqrt()) if ordinary.numel() else 0.0
    return found or 1.0


def _distance(values: Tensor, node: Tensor) -> float:
    """Return how far the values of a line are from those of a node, in whatever order and however often."""
    left, right = (torch.sort(_plain(each).flatten())[0] for each in (values, node))
    if len(left) == len(right):
        return _farthest(left, right)
    if not len(left) or not len(right):
        return float("inf")
    is_whole = len(left) < MOST_VALUES
    return max(_nearest(left, right), _nearest(right, left) if is_whole else 0.0)


def _nearest(values: Tensor, among: Tensor) -> float:
    """Return how far the value that is farthest from all of `among`, which are sorted, is from them."""
    place = torch.searchsorted(among, values).clamp(max=len(among) - 1)
    before = (place - 1).clamp(min=0)
    apart = torch.minimum((among[place] - values).abs(), (among[before] - values).abs())
    return float((apart / (values.abs() + _size(among))).max())
