"""Find the line of a fused kernel where a result goes wrong, by comparing each line's values with the eager nodes."""

from __future__ import annotations

import ast
import importlib.util
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import field
from typing import Any

import torch
from torch import Tensor

from depyf.bytecode.records import dataclass
from depyf.links.inductor.line import Launched, Line
from depyf.links.inductor.probes import MOST_VALUES
from depyf.links.inductor.statements import is_accumulator
from depyf.links.inductor.suspects import asked_for, held_by, suspects
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
"""The allowed distance between a line's values and a node's, relative to their size: kernels round less than eager."""

_ROUNDING = 16.0
"""The allowed ratio between that distance and the distance of eager from float64."""

_EPSILONS = 4.0
"""The smallest distance, in steps of the dtype, that counts as a difference if no line has a larger one."""

_CLOSE_ROUNDING = 2.0
_NOISE = 0.01
_NAN, _MOST = 1.7e300, 1.6e300
_NAMED = re.compile(r"\b(?:inf|infinity|nan)\b|quiet_NaN", re.IGNORECASE)
_ARITHMETIC = frozenset(("add", "sub", "mul", "div"))
_FEW = 2
"""A line with at most this many distinct values can match many nodes by chance."""


@dataclass(slots=True)
class Inside:
    """The first line of each kind in which the kernels of a graph go wrong, by kind and part.

    `slight` holds lines with small errors, by part. They are reported only if there are no others.
    """

    found: dict[tuple[Kind, Part], KernelLine] = field(default_factory=dict)
    slight: dict[Part, KernelLine] = field(default_factory=dict)

    def hear(self, ran: Ran) -> None:
        """Examine a finished launch."""
        part = Part.BACKWARD if ran.probed.is_backward else Part.FORWARD
        for kind, is_it in ((Kind.NAN, torch.isnan), (Kind.INFINITE, torch.isinf)):
            if (kind, part) not in self.found:
                # Masked lanes may hold any value. But the value loaded in place of a masked lane may be used.
                lanes = ({**ran.values, **ran.counted}, ran.values)
                line, values = next((pair for some in lanes for pair in _strange(ran, some, is_it)), (None, None))
                if line is not None and values is not None:
                    counted = f"{int(is_it(values).sum())} of its {values.numel()} values are {kind.value}"
                    self.found[kind, part] = _told(ran, part, line, _node_of(line, ran), counted)
        if (Kind.DIFFERENT, part) not in self.found:
            different = _different(ran)
            if different is not None:
                self.found[Kind.DIFFERENT, part] = _told(ran, part, *different)
            elif part not in self.slight and (slightly := _slightly_different(ran)) is not None:
                self.slight[part] = _told(ran, part, *slightly)

    def of(self, kind: Kind, part: Part) -> KernelLine | None:
        """Return the line where a finding in a graph begins. A captured graph begins in the forward kernels."""
        parts = [Part.BACKWARD] if part is Part.BACKWARD else [Part.FORWARD, Part.BACKWARD]
        noted = [self.found[kind, candidate] for candidate in parts if (kind, candidate) in self.found]
        slight = [self.slight[candidate] for candidate in parts if kind is Kind.DIFFERENT and candidate in self.slight]
        return next(iter(noted + slight), None)


def look_inside(call: GraphCall, backend: Callable[..., Any] | str, *, backward: bool) -> Inside:
    """Compile and run the graph of a call once more with probes in its kernels, and return where they go wrong.

    Triton kernels run in Triton's interpreter.

    Args:
        call: the call of a captured graph.
        backend: the backend, or its name.
        backward: whether to run the backward, too.
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
    graph_node = next((graph_node for graph_node in ran.probed.module.graph.nodes if graph_node.name == node), None)
    where = user_line(graph_node) if graph_node is not None else None
    text = kernel.text.splitlines()[number - 1].strip()
    return KernelLine(kernel.name, kernel.language, part, number, text, node, where, values)


def _node_of(line: Line, ran: Ran) -> str:
    if line.nodes:
        return line.nodes[0]
    return next((suspect.node for suspect in suspects(ran.launched, ran.probed.graph) if suspect.line is line), "")


def _strange(ran: Ran, given: Mapping[int, Tensor], is_it: Callable[[Tensor], Tensor]) -> Iterator[tuple[Line, Tensor]]:
    """Yield the lines, with values, that produce NaN or infinity from finite inputs without naming it as a constant."""
    strange: set[str] = set()
    for line in ran.launched.lines:
        values = given.get(line.statement.line)
        taken = bool(strange & set(line.names))
        # An accumulator is not examined inside its loop.
        is_strange = bool(is_it(values).any()) if values is not None else taken
        strange.difference_update(() if is_accumulator(line.targets[0] if line.targets else "") else line.targets)
        strange.update(line.targets if is_strange else ())
        text = ast.unparse(line.statement.value)
        if is_strange and values is not None and not taken and not _is_load(line) and not _NAMED.search(text):
            yield line, values


def _is_load(line: Line) -> bool:
    return any("ptr" in name or name.startswith("local_buffer") for name in line.names) and not line.is_store


def _different(ran: Ran) -> tuple[Line, str, str] | None:
    """Return the line in which a result of a launch first differs from its node, the node, and the distance."""
    wrong = [name for name in ran.arguments if "out_ptr" in name and not _is_right(name, ran)]
    lines = list(leading_to(wrong, ran.launched)) if wrong else []
    other = next((store_explanation for name in wrong for store_explanation in _of_another_node(name, ran)), None)
    for explanation in (_with_other_values(lines, ran), _unknown(lines, ran), other, _lacking_values(lines, ran)):
        if explanation is not None:
            return explanation
    # A result without a node may be an intermediate step of a node.
    known = [line for line in lines if line.is_store and any(ran.launched.after.get(name) for name in wrong)]
    if not known:
        return None
    return known[-1], "".join(known[-1].nodes[:1]), "its values are not those of eager"


def _with_other_values(lines: list[Line], ran: Ran) -> tuple[Line, str, str] | None:
    """Return the first line with values that do not occur in its node."""
    for line in lines:
        apart = _apart(line, ran, is_whole=False)
        if apart is not None and apart[0] > 0:
            return line, apart[1], f"its values differ from those of {apart[1]} by {apart[0]:.3g} of their size"
    return None


def _lacking_values(lines: list[Line], ran: Ran) -> tuple[Line, str, str] | None:
    """Return the first line that lacks some values of its node."""
    for line in lines:
        apart = _apart(line, ran)
        if apart is not None and apart[0] > 0:
            return line, apart[1], f"it lacks values of {apart[1]}: the nearest differ by {apart[0]:.3g} of their size"
    return None


def _unknown(lines: list[Line], ran: Ran) -> tuple[Line, str, str] | None:
    """Return the first wrong line that computes no node. Lines that only compare or count indices come last."""
    right, doubted = _right(lines, ran), list[tuple[Line, str, str]]()
    for line in lines:
        if line.computes_something and not (line.computes or line.is_known):
            node = asked_for(line, ran.launched, ran.probed.graph)
            explanation = line, node, "no node of the graph gives its values"
            if _is_other_mask(line, node, ran) or (id(line) not in right and not _is_doubtful(line, node, ran)):
                return explanation
            doubted += [explanation] if id(line) not in right else []
    return next(iter(doubted), None)


def _of_another_node(name: str, ran: Ran) -> Iterator[tuple[Line, str, str]]:
    """Yield the line that computes a result, if its values are those of the wrong node."""
    node = ran.launched.after.get(name, "")
    stores = [line for line in ran.launched.lines if line.is_store and name in line.pointers]
    if not node or not stores or not stores[-1].computes or node in stores[-1].computes:
        return
    before = ran.launched.lines[: ran.launched.lines.index(stores[-1])]
    giving = [line for line in before if set(line.targets) & set(stores[-1].names) and line.computes]
    for line in giving[-1:]:
        yield line, node, f"its values are those of {line.computes[0]}, and not of {node}"


def _slightly_different(ran: Ran) -> tuple[Line, str, str] | None:
    """Return a line without a node that is slightly off where a node is expected, that node, and the distance."""
    wrong = [name for name in ran.arguments if "out_ptr" in name and not _is_right(name, ran, is_close=True)]
    for line in leading_to(wrong, ran.launched) if wrong else ():
        if not line.computes_something or line.computes or line.is_known:
            continue
        node = asked_for(line, ran.launched, ran.probed.graph)
        given = _given(line, ran)
        if isinstance(ran.probed.nodes.get(node), Tensor) and given:
            judge = _Judge(ran, node, is_close=True)
            apart = min(map(judge.unordered, given))
            if apart > 0:
                return line, node, f"its values differ from those of {node} by {apart:.3g} of their size"
    return None


def _given(line: Line, ran: Ran) -> list[Tensor]:
    """Return the values of a line in all lanes, and in the unmasked lanes if these differ."""
    lane_values = (ran.values.get(line.statement.line), ran.counted.get(line.statement.line))
    return [values for values in lane_values if values is not None]


def _is_right(name: str, ran: Ran, *, is_close: bool = False) -> bool:
    """Return whether a result of a launch equals its node, or any node if its node is unknown."""
    value, node = ran.arguments[name], ran.launched.after.get(name, "")
    if not isinstance(value, Tensor):
        return True
    named = [node] if node else ran.launched.nodes or tuple(ran.probed.nodes)
    nodes = [(candidate, right) for candidate in named if isinstance(right := ran.probed.nodes.get(candidate), Tensor)]
    same_size = [(candidate, right) for candidate, right in nodes if right.numel() == value.numel()]
    judged = ((_Judge(ran, candidate, is_close=is_close), right) for candidate, right in same_size)
    return any(not judge.pairs(value.reshape(right.shape), right) for judge, right in judged)


def leading_to(wrong: list[str], launched: Launched) -> Iterator[Line]:
    """Yield in order the lines that compute some results of a launch, or all lines if no store to them is found."""
    stores = [line for line in launched.lines if line.is_store and set(line.pointers) & set(wrong)]
    wanted, kept = set(wrong), []
    for line in reversed(launched.lines if stores else []):
        written = set(line.pointers if line.is_store else line.targets)
        if written & wanted:
            kept.append(line)
            if not line.is_store and not is_accumulator(line.targets[0]):
                wanted -= written
            wanted.update(line.names)
    yield from reversed(kept) if stores else launched.lines


def _is_doubtful(line: Line, node: str, ran: Ran) -> bool:
    """Return whether a line seems to compare or count indices. The graph need not have a node for such a line."""
    asked = ran.probed.graph.nodes.get(node)
    has_few = all(len(tensor.unique()) <= _FEW for tensor in _given(line, ran))
    is_alike = not line.statement.gives_truths or (asked is not None and asked.dtype == "b8")
    return line.term is None or not is_alike or (has_few and not held_by(line, ran.launched))


def _apart(line: Line, ran: Ran, *, is_whole: bool = True) -> tuple[float, str] | None:
    """Return the distance of a line's values from its nearest node, and that node; None if unknown.

    If `is_whole` is set, the line must give all values of the node. A C++ loop handles the tail of a row in separate
    lines, so the node's values may be spread over all lines that compute it.
    """
    given = _given(line, ran)
    nodes = [compute for compute in line.computes if isinstance(ran.probed.nodes.get(compute), Tensor)]
    if not given or not nodes:
        return None
    others = [other for other in ran.launched.lines if other.term == line.term and other.computes and other is not line]
    rest = [values for other in others for values in _given(other, ran)]
    judges = [(_Judge(ran, node), node) for node in nodes]
    if not is_whole:
        return min((judge.among(values), node) for judge, node in judges for values in given)
    return min((judge.unordered(values, rest), node) for judge, node in judges for values in given)


def _right(lines: list[Line], ran: Ran) -> set[int]:
    """Return the lines that give a node's values, and the lines that these are computed from, by identity.

    A line with fewer distinct values than its inputs, such as a comparison, proves nothing about its inputs. A sum
    does.
    """
    right, wanted = set[int](), dict[str, float]()
    for line in reversed(lines):
        written = set(line.pointers if line.is_store else line.targets)
        values = ran.values.get(line.statement.line)
        apart = _apart(line, ran)
        count = len(values.unique()) if values is not None else 0
        asked = max((wanted[target] for target in written & wanted.keys()), default=0.0)
        if (apart is not None and not apart[0]) or _is_of_some_node(line, ran):
            asked = float(count)
        for target in written & wanted.keys():
            del wanted[target]
        if asked >= count and asked:
            right.add(id(line))
            asked = math.inf if is_accumulator("".join(line.targets[:1])) else min(asked, count or asked)
            wanted.update(dict.fromkeys(line.names, asked))
    return right


def _is_other_mask(line: Line, node: str, ran: Ran) -> bool:
    """Return whether a line should give a node's truth values but gives others; there are too few for another test."""
    values, truths = ran.values.get(line.statement.line), ran.probed.nodes.get(node)
    if values is None or not isinstance(truths, Tensor) or truths.dtype is not torch.bool:
        return False
    return truths.numel() == len(values) and bool(values.sum() != truths.sum())


def _is_of_some_node(line: Line, ran: Ran) -> bool:
    """Return whether a line gives the values of some node. Such a line is right even if depyf cannot map it."""
    given = [tensor for tensor in _given(line, ran) if len(tensor.unique()) > _FEW]
    if line.is_store or not given:
        return False
    known = ran.probed.graph.nodes
    tensors = ((name, value) for name, value in ran.probed.nodes.items() if isinstance(value, Tensor))
    computed = [name for name, tensor in tensors if len(tensor.unique()) > _FEW]
    # A copy of an input computes nothing, and a node that another line computes belongs to that line.
    others = {name for other in ran.launched.lines for name in other.computes}
    likely = [name for name in computed if name in known and known[name].operation and name not in others]
    # Wrong arithmetic stays wrong even if its values match by chance.
    arithmetic = line.operations & _ARITHMETIC
    other = _ARITHMETIC - arithmetic if arithmetic else frozenset()
    judges = (_Judge(ran, name) for name in likely if known[name].operation not in other)
    return any(not judge.is_noise and not judge.unordered(values) for judge in judges for values in given)


class _Judge:
    """The distance of values from a node, relative to their size; 0 if only rounding separates them."""

    def __init__(self, ran: Ran, node: str, *, is_close: bool = False) -> None:
        value = ran.probed.nodes[node]
        self._node = _plain(value)
        self._rounding = (_CLOSE_ROUNDING if is_close else _ROUNDING) * ran.probed.rounding.get(node, 0.0)
        close = _EPSILONS * torch.finfo(value.dtype).eps if value.is_floating_point() else 0.0
        self._tolerance = close if is_close else _TOLERANCES.get(value.dtype, _TOLERANCE)
        ordinary = self._node[self._node.abs() < _MOST]
        self._size = (float(ordinary.square().mean().sqrt()) if ordinary.numel() else 0.0) or 1.0

    @property
    def is_noise(self) -> bool:
        """Return whether a node's values are little more than rounding errors."""
        return self._rounding > self._size * _NOISE

    def pairs(self, ours: Tensor, theirs: Tensor) -> float:
        """Compare element by element."""
        left, right = _plain(ours), _plain(theirs)
        return self._judged((left - right).abs(), right)

    def unordered(self, values: Tensor, rest: Sequence[Tensor] = ()) -> float:
        """Compare in any order, ignoring repetitions. Missing values may be in `rest`."""
        left, right = torch.sort(_plain(values).flatten())[0], torch.sort(self._node.flatten())[0]
        if len(left) == len(right):
            return self.pairs(left, right)
        whole = torch.sort(torch.cat([left, *(_plain(tensor).flatten() for tensor in rest)]))[0] if rest else left
        if not len(whole) or not len(right):
            return float("inf")
        is_whole = len(left) < MOST_VALUES
        distance = self._nearest(left, right) if len(left) else 0.0
        return max(distance, self._nearest(right, whole) if is_whole else 0.0)

    def among(self, values: Tensor) -> float:
        """Compare each value with the nearest value of the node, or in sorted order if there are equally many."""
        if values.numel() == self._node.numel():
            return self.unordered(values)
        if not self._node.numel():
            return float("inf")
        return self._nearest(_plain(values).flatten(), torch.sort(self._node.flatten())[0])

    def _nearest(self, values: Tensor, among: Tensor) -> float:
        """Compare each value with the nearest of `among`, which is sorted."""
        place = torch.searchsorted(among, values).clamp(max=len(among) - 1)
        before = (place - 1).clamp(min=0)
        return self._judged(torch.minimum((among[place] - values).abs(), (among[before] - values).abs()), values)

    def _judged(self, apart: Tensor, values: Tensor) -> float:
        if not apart.numel():
            return 0.0
        farthest = float(((apart - self._rounding).clamp(min=0) / (values.abs() + self._size)).max())
        return farthest if farthest > self._tolerance else 0.0


def _plain(values: Tensor) -> Tensor:
    """Return values as float64, with NaN and infinity replaced by numbers far from all others."""
    return values.detach().cpu().double().nan_to_num(_NAN, _MOST, -_MOST)
