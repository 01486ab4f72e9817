"""The line of a fused kernel in which a result goes wrong: what each line gives, beside what the nodes give eagerly."""

from __future__ import annotations

import ast
import importlib.util
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from depyf.report.kernels.lines import Launched, Line
from depyf.report.kernels.probes import MOST_VALUES
from depyf.report.kernels.statements import is_accumulator
from depyf.report.kernels.suspects import asked_for, held_by, suspects
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

_ROUNDING = 16.0
"""They may be so many times as far apart as eager is from float64."""

_EPSILONS = 4.0
"""Where no line is so far from its node, so many of its dtype's smallest steps tell of a line that is for no node."""

_CLOSE_ROUNDING = 2.0
_NOISE = 0.01
_NAN, _MOST = 1.7e300, 1.6e300
_NAMED = re.compile(r"\b(?:inf|infinity|nan)\b|quiet_NaN", re.IGNORECASE)
_ARITHMETIC = frozenset(("add", "sub", "mul", "div"))
_FEW = 2
"""A line with no more different values than these is the same as many a node."""


@dataclass(slots=True)
class Inside:
    """The first line of each kind in which the kernels of a graph go wrong, by kind and part.

    `slight` are lines that are only a little off, by part: they are told where no other is.
    """

    found: dict[tuple[Kind, Part], KernelLine] = field(default_factory=dict)
    slight: dict[Part, KernelLine] = field(default_factory=dict)

    def hear(self, ran: Ran) -> None:
        """Look at a launch that has run."""
        part = Part.BACKWARD if ran.probed.is_backward else Part.FORWARD
        for kind, is_it in ((Kind.NAN, torch.isnan), (Kind.INFINITE, torch.isinf)):
            if (kind, part) not in self.found:
                # Lanes that do not count may have anything; what is loaded instead of them may count after all.
                lanes = ({**ran.values, **ran.counted}, ran.values)
                line, values = next((each for some in lanes for each in _strange(ran, some, is_it)), (None, None))
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
        """Return the line in which something begins that was found in a graph: the captured one begins forward."""
        parts = [Part.BACKWARD] if part is Part.BACKWARD else [Part.FORWARD, Part.BACKWARD]
        told = [self.found[kind, each] for each in parts if (kind, each) in self.found]
        slight = [self.slight[each] for each in parts if kind is Kind.DIFFERENT and each in self.slight]
        return next(iter(told + slight), None)


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


def _strange(
    ran: Ran, given: Mapping[int, Tensor], is_it: Callable[[Tensor], Tensor]
) -> Iterator[tuple[Line, Tensor]]:
    """Yield the lines that give what none that they take gives, and that do not name it, with what they give."""
    strange: set[str] = set()
    for line in ran.launched.lines:
        values = given.get(line.statement.line)
        taken = bool(strange & set(line.names))
        # What a loop gathers is not looked at while it is gathered.
        found = bool(is_it(values).any()) if values is not None else taken
        strange.difference_update(() if is_accumulator(line.targets[0] if line.targets else "") else line.targets)
        strange.update(line.targets if found else ())
        text = ast.unparse(line.statement.value)
        if found and values is not None and not taken and not _is_load(line) and not _NAMED.search(text):
            yield line, values


def _is_load(line: Line) -> bool:
    return any("ptr" in name or name.startswith("local_buffer") for name in line.names) and not line.is_store


def _different(ran: Ran) -> tuple[Line, str, str] | None:
    """Return the line in which a result of a launch becomes another than its node's, the node, and how far it is."""
    wrong = [name for name in ran.arguments if "out_ptr" in name and not _is_right(name, ran)]
    lines = list(_leading_to(wrong, ran.launched)) if wrong else []
    other = next((each for name in wrong for each in _of_another_node(name, ran)), None)
    for found in (_with_other_values(lines, ran), _unknown(lines, ran), other, _lacking_values(lines, ran)):
        if found is not None:
            return found
    # A result that is no node's may be a step inside of one.
    known = [each for each in lines if each.is_store and any(ran.launched.after.get(name) for name in wrong)]
    if not known:
        return None
    return known[-1], "".join(known[-1].nodes[:1]), "what it writes is not what eager gives"


def _with_other_values(lines: list[Line], ran: Ran) -> tuple[Line, str, str] | None:
    """Return the first line that gives values which its node does not have."""
    for line in lines:
        apart = _apart(line, ran, is_whole=False)
        if apart is not None and apart[0] > 0:
            return line, apart[1], f"its values are not those of {apart[1]}: {apart[0]:.3g} of their size apart"
    return None


def _lacking_values(lines: list[Line], ran: Ran) -> tuple[Line, str, str] | None:
    """Return the first line that does not give all values of its node."""
    for line in lines:
        apart = _apart(line, ran)
        if apart is not None and apart[0] > 0:
            return line, apart[1], f"values of {apart[1]} are not among its own: {apart[0]:.3g} of their size apart"
    return None


def _unknown(lines: list[Line], ran: Ran) -> tuple[Line, str, str] | None:
    """Return the first line that computes no node and is not right; what only compares or counts places comes last."""
    right, doubted = _right(lines, ran), list[tuple[Line, str, str]]()
    for line in lines:
        if line.computes_something and not (line.computes or line.is_known):
            node = asked_for(line, ran.launched, ran.probed.graph)
            found = line, node, "no node of the graph gives its values"
            if _is_other_mask(line, node, ran) or (id(line) not in right and not _is_doubtful(line, node, ran)):
                return found
            doubted += [found] if id(line) not in right else []
    return next(iter(doubted), None)


def _of_another_node(name: str, ran: Ran) -> Iterator[tuple[Line, str, str]]:
    """Yield the line that gives what a result holds, where that is the value of another node than it should be."""
    node = ran.launched.after.get(name, "")
    stores = [each for each in ran.launched.lines if each.is_store and name in each.pointers]
    if not node or not stores or not stores[-1].computes or node in stores[-1].computes:
        return
    before = ran.launched.lines[: ran.launched.lines.index(stores[-1])]
    giving = [each for each in before if set(each.targets) & set(stores[-1].names) and each.computes]
    for line in giving[-1:]:
        yield line, node, f"its values are those of {line.computes[0]}, and not of {node}"


def _slightly_different(ran: Ran) -> tuple[Line, str, str] | None:
    """Return the line that computes no node, is where one is asked for, and is a little off; the node, and how far."""
    wrong = [name for name in ran.arguments if "out_ptr" in name and not _is_right(name, ran, is_close=True)]
    for line in _leading_to(wrong, ran.launched) if wrong else ():
        if not line.computes_something or line.computes or line.is_known:
            continue
        node = asked_for(line, ran.launched, ran.probed.graph)
        given = _given(line, ran)
        if isinstance(ran.probed.nodes.get(node), Tensor) and given:
            judge = _Judge(ran, node, is_close=True)
            apart = min(map(judge.unordered, given))
            if apart > 0:
                return line, node, f"its values are not those of {node}: {apart:.3g} of their size apart"
    return None


def _given(line: Line, ran: Ran) -> list[Tensor]:
    """Return what a line gives: in all lanes, and in those that count if these are others."""
    found = (ran.values.get(line.statement.line), ran.counted.get(line.statement.line))
    return [each for each in found if each is not None]


def _is_right(name: str, ran: Ran, *, is_close: bool = False) -> bool:
    """Return whether a result of a launch is its node's, or, where that is not known, any node's."""
    value, node = ran.arguments[name], ran.launched.after.get(name, "")
    if not isinstance(value, Tensor):
        return True
    named = [node] if node else ran.launched.nodes or tuple(ran.probed.nodes)
    nodes = [(each, right) for each in named if isinstance(right := ran.probed.nodes.get(each), Tensor)]
    same_size = [(each, right) for each, right in nodes if right.numel() == value.numel()]
    judged = ((_Judge(ran, each, is_close=is_close), right) for each, right in same_size)
    return any(not judge.pairs(value.reshape(right.shape), right) for judge, right in judged)


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


def _is_doubtful(line: Line, node: str, ran: Ran) -> bool:
    """Return whether a line seems to compare or count places, which no node of the graph has to give."""
    asked = ran.probed.graph.nodes.get(node)
    has_few = all(len(each.unique()) <= _FEW for each in _given(line, ran))
    is_alike = not line.statement.gives_truths or (asked is not None and asked.dtype == "b8")
    return line.term is None or not is_alike or (has_few and not held_by(line, ran.launched))


def _apart(line: Line, ran: Ran, *, is_whole: bool = True) -> tuple[float, str] | None:
    """Return how far the values of a line are from its nearest node, and that node; None where it is not known.

    If `is_whole` the line has to give all of the node's values.
    A C++ loop has the rest of a row in lines of their own: what a node gives may be in any of those that compute it.
    """
    given = _given(line, ran)
    nodes = [each for each in line.computes if isinstance(ran.probed.nodes.get(each), Tensor)]
    if not given or not nodes:
        return None
    others = [each for each in ran.launched.lines if each.term == line.term and each.computes and each is not line]
    rest = [each for other in others for each in _given(other, ran)]
    judges = [(_Judge(ran, each), each) for each in nodes]
    if not is_whole:
        return min((judge.among(values), each) for judge, each in judges for values in given)
    return min((judge.unordered(values, rest), each) for judge, each in judges for values in given)


def _right(lines: list[Line], ran: Ran) -> set[int]:
    """Return the lines that give the values of a node, and those that such a line is computed from, by identity.

    A line with fewer different values than what it takes, as a comparison has, says nothing about that; a sum does.
    """
    found, wanted = set[int](), dict[str, float]()
    for line in reversed(lines):
        own = set(line.pointers if line.is_store else line.targets)
        values = ran.values.get(line.statement.line)
        apart = _apart(line, ran)
        count = len(values.unique()) if values is not None else 0
        asked = max((wanted[each] for each in own & wanted.keys()), default=0.0)
        if (apart is not None and not apart[0]) or _is_of_some_node(line, ran):
            asked = float(count)
        for each in own & wanted.keys():
            del wanted[each]
        if asked >= count and asked:
            found.add(id(line))
            asked = math.inf if is_accumulator("".join(line.targets[:1])) else min(asked, count or asked)
            wanted.update(dict.fromkeys(line.names, asked))
    return found


def _is_other_mask(line: Line, node: str, ran: Ran) -> bool:
    """Return whether a line should give the truths of a node, and gives others: too few values to tell it otherwise."""
    values, truths = ran.values.get(line.statement.line), ran.probed.nodes.get(node)
    if values is None or not isinstance(truths, Tensor) or truths.dtype is not torch.bool:
        return False
    return truths.numel() == len(values) and bool(values.sum() != truths.sum())


def _is_of_some_node(line: Line, ran: Ran) -> bool:
    """Return whether a line gives the values of a node: then it is right, and only not understood."""
    given = [each for each in _given(line, ran) if len(each.unique()) > _FEW]
    if line.is_store or not given:
        return False
    known = ran.probed.graph.nodes
    tensors = ((name, each) for name, each in ran.probed.nodes.items() if isinstance(each, Tensor))
    computed = [name for name, each in tensors if len(each.unique()) > _FEW]
    # What gives an input again has computed nothing, and the node of another line is that line's.
    others = {name for each in ran.launched.lines for name in each.computes}
    likely = [name for name in computed if name in known and known[name].operation and name not in others]
    # Arithmetic that gives by chance what other arithmetic should give is wrong all the same.
    arithmetic = line.operations & _ARITHMETIC
    other = _ARITHMETIC - arithmetic if arithmetic else frozenset()
    judges = (_Judge(ran, name) for name in likely if known[name].operation not in other)
    return any(not each.is_noise and not each.unordered(values) for each in judges for values in given)


class _Judge:
    """How far values are from those of a node, relative to their size; 0 where only rounding is between them."""

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
        """Return whether rounding is about all that a node gives."""
        return self._rounding > self._size * _NOISE

    def pairs(self, ours: Tensor, theirs: Tensor) -> float:
        """Compare element by element."""
        left, right = _plain(ours), _plain(theirs)
        return self._judged((left - right).abs(), right)

    def unordered(self, values: Tensor, rest: Sequence[Tensor] = ()) -> float:
        """Compare in whatever order, and however often a value is there; what is missing may be in the rest."""
        left, right = torch.sort(_plain(values).flatten())[0], torch.sort(self._node.flatten())[0]
        if len(left) == len(right):
            return self.pairs(left, right)
        whole = torch.sort(torch.cat([left, *(_plain(each).flatten() for each in rest)]))[0] if rest else left
        if not len(whole) or not len(right):
            return float("inf")
        is_whole = len(left) < MOST_VALUES
        own = self._nearest(left, right) if len(left) else 0.0
        return max(own, self._nearest(right, whole) if is_whole else 0.0)

    def among(self, values: Tensor) -> float:
        """Compare each value with the nearest of the node's; those of as many with each other."""
        if values.numel() == self._node.numel():
            return self.unordered(values)
        if not self._node.numel():
            return float("inf")
        return self._nearest(_plain(values).flatten(), torch.sort(self._node.flatten())[0])

    def _nearest(self, values: Tensor, among: Tensor) -> float:
        """Compare each value with the nearest of others, which are sorted."""
        place = torch.searchsorted(among, values).clamp(max=len(among) - 1)
        before = (place - 1).clamp(min=0)
        return self._judged(torch.minimum((among[place] - values).abs(), (among[before] - values).abs()), values)

    def _judged(self, apart: Tensor, values: Tensor) -> float:
        if not apart.numel():
            return 0.0
        farthest = float(((apart - self._rounding).clamp(min=0) / (values.abs() + self._size)).max())
        return farthest if farthest > self._tolerance else 0.0


def _plain(values: Tensor) -> Tensor:
    """Return values as float64, with what is not finite far from all that is."""
    return values.detach().cpu().double().nan_to_num(_NAN, _MOST, -_MOST)
