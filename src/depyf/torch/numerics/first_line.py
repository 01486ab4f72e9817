"""Find the first line of the user's at which the graphs are not what the plain Python function does.

The plain function runs under a trace function, which notes the lines that run and the values that each of them sets.
The graphs name the user's line of each node. The first line that only one of the two ran, or at which they computed
another value, is where Dynamo read the program in another way than Python.
"""

from __future__ import annotations

import ast
import functools
import linecache
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.utils import _pytree

from depyf.bytecode.records import dataclass
from depyf.model.user_line import UserLine
from depyf.model.user_source import is_library_file, line_at
from depyf.torch.numerics.comparing import Tolerance, deviation
from depyf.torch.numerics.places import user_line
from depyf.torch.numerics.recording import GraphCall

_CONSTANT = (int, float, complex, torch.dtype)
_OWN = frozenset(map(str, Path(__file__).parent.glob("*.py")))
"""The files of this package, whose lines are not the user's."""
MOST_LINES = 20_000
"""The most lines of a run that are noted: a long loop would need all memory."""


@dataclass(frozen=True, slots=True)
class Step:
    """A line that ran, and the tensors and numbers that it computed.

    sets: in plain Python, the variables and attributes that the line set, with their values.
    constants: in a graph, the numbers and dtypes among the arguments of the line's nodes.
    """

    filename: str
    line: int
    values: tuple[object, ...]
    sets: Mapping[str, object] = field(default_factory=dict)
    constants: tuple[object, ...] = ()


def plain_steps(run: Callable[[], object]) -> list[Step]:
    """Run a function as plain Python, and return the lines of the user's that ran, in order."""
    steps: list[Step] = []
    before: dict[types.FrameType, tuple[int, dict[str, int]]] = {}

    def finish(frame: types.FrameType, result: object = None) -> None:
        line, names = before.pop(frame, (0, {}))
        if line and len(steps) < MOST_LINES:
            filename = frame.f_code.co_filename
            sets = {name: value for name, value in frame.f_locals.items() if names.get(name) != id(value)}
            values = (*map(_copied, sets.values()), _copied(result))
            steps.append(Step(filename, line, values, {**sets, **dict(_attributes(frame, line))}))

    def trace(frame: types.FrameType, event: str, argument: object) -> Any:
        """Note the values that a line of plain Python has set, as a function for `sys.settrace`.

        Args:
            frame: the frame that runs.
            event: Python's name for what happens.
            argument: for `return`, the value that is returned.
        """
        filename = frame.f_code.co_filename
        if is_library_file(filename) or filename.startswith("<") or filename in _OWN:
            return None
        if event == "line":
            finish(frame)
            before[frame] = frame.f_lineno, {name: id(value) for name, value in frame.f_locals.items()}
        elif event == "return":
            finish(frame, argument)
        return trace

    outer = sys.gettrace()
    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(outer)
    return steps


def _attributes(frame: types.FrameType, line: int) -> Iterator[tuple[str, object]]:
    """Yield the attributes of local variables that a line assigns, such as `self.gain`, with their values."""
    for text, name, attribute in _stores(frame.f_code.co_filename).get(line, ()):
        owner = getattr(frame.f_locals.get(name), "__dict__", {})
        if attribute in owner:
            yield text, owner[attribute]


@functools.cache
def _stores(filename: str) -> dict[int, list[tuple[str, str, str]]]:
    """Return for each line of a file the attributes of variables that it assigns: text, variable, attribute."""
    stores: dict[int, list[tuple[str, str, str]]] = {}
    for node in _nodes(filename):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            stores.setdefault(node.lineno, []).append((ast.unparse(node), node.value.id, node.attr))
    return stores


def _copied(value: object) -> object:
    return value.detach().clone() if isinstance(value, Tensor) else value


def graph_steps(calls: Sequence[GraphCall]) -> list[Step]:
    """Return the user's lines from which the nodes of the graphs came, with the values of the nodes, in order."""
    steps: list[Step] = []
    for call in calls:
        values = _values(call)
        for node in call.module.graph.nodes:
            where = user_line(node) if node.op not in ("placeholder", "output") else None
            if where is None:
                continue
            step = Step(where.filename, where.line, (values.get(node),), constants=tuple(_constants(node)))
            if steps and (steps[-1].filename, steps[-1].line) == (where.filename, where.line):
                last = steps.pop()
                both = (*last.values, *step.values), (*last.constants, *step.constants)
                step = Step(where.filename, where.line, both[0], constants=both[1])
            steps.append(step)
    return steps


def _constants(node: torch.fx.Node) -> Iterator[object]:
    """Yield the numbers and dtypes among the arguments of a node."""
    leaves = _pytree.tree_leaves((node.args, node.kwargs))
    yield from (leaf for leaf in leaves if isinstance(leaf, _CONSTANT))


def _values(call: GraphCall) -> Mapping[torch.fx.Node, object]:
    runner = torch.fx.Interpreter(call.module, garbage_collect_values=False)
    with torch.set_grad_enabled(call.grad_enabled):
        torch.manual_seed(0)
        runner.run(*call.fresh_inputs())
    return dict(runner.env)


def first_difference(plain: Sequence[Step], graphs: Sequence[Step]) -> UserLine | None:
    """Return the first line at which the graphs do something else, or None if none can be told."""
    at = 0
    for step in graphs:
        place = step.filename, step.line
        later = range(at, len(plain))
        position = next((index for index in later if (plain[index].filename, plain[index].line) == place), None)
        if position is None:
            return _decision(step, plain[at:])
        before, at = plain[at:position], position
        if not _agrees(step, plain[position]):
            number = _loop_of(step, plain) or _setter(step, plain[:position]) or _test(step, before) or step.line
            return line_at(step.filename, number, "")
    last = plain[-1] if plain else None
    return line_at(last.filename, last.line, "") if last is not None else None


def _loop_of(step: Step, plain: Sequence[Step]) -> int:
    """Return the line of a loop that makes more steps, or fewer, in the graph than in plain Python; 0 if none does.

    The values of the steps that both make are equal then.
    """
    loops = [node for node in _nodes(step.filename) if isinstance(node, (ast.For, ast.While))]
    around = [node.lineno for node in loops if node.lineno < step.line <= (node.end_lineno or 0)]
    ran = [
        value for other in plain if (other.filename, other.line) == (step.filename, step.line) for value in other.values
    ]
    theirs = [value for value in map(_tensor, ran) if value is not None]
    ours = [value for value in map(_tensor, step.values) if value is not None]
    if not around or len(ours) == len(theirs) or not theirs or not ours:
        return 0
    is_same = all(_is_same(left, right) for left, right in zip(ours, theirs))
    return max(around) if is_same else 0


def _setter(step: Step, before: Sequence[Step]) -> int:
    """Return the line that set a number which the graph has as another constant; 0 if no such line is known."""
    names = {ast.unparse(node) for node in _nodes(step.filename) if _is_read(node, step.line)}
    for name in sorted(names):
        setter = next((other for other in reversed(before) if name in other.sets), None)
        if setter is None:
            continue
        value = setter.sets[name]
        if isinstance(value, _CONSTANT) and step.constants and value not in step.constants:
            return setter.line
    return 0


def _is_read(node: ast.AST, line: int) -> bool:
    is_name = isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load)
    return is_name and getattr(node, "lineno", 0) == line


def _agrees(step: Step, plain: Step) -> bool:
    """Return whether the last value of a line's nodes is among the values that the line set, if both are known."""
    known = [value for value in map(_tensor, plain.values) if value is not None]
    computed = _tensor(step.values[-1]) if step.values else None
    if computed is None or not known or all(value.shape != computed.shape for value in known):
        return True
    same = [value for value in known if value.shape == computed.shape]
    if len(same) > 1 and all(value.dtype != computed.dtype for value in same):
        return True
    return any(_is_same(computed, value) for value in same)


def _is_same(computed: Tensor, value: Tensor) -> bool:
    is_alike = value.shape == computed.shape and value.dtype == computed.dtype
    return is_alike and deviation(computed, value, Tolerance()) is None


def _tensor(value: object) -> Tensor | None:
    if isinstance(value, Tensor):
        return value.detach() if value.layout is torch.strided else None
    return torch.as_tensor(value) if hasattr(value, "__array__") and not isinstance(value, type) else None


def _decision(step: Step, plain: Sequence[Step]) -> UserLine:
    """Return the test that sent the graph to a line that plain Python did not run; the line itself if there is none.

    It is the test before the first line of plain Python that computed a tensor where the graph went elsewhere, or the
    innermost test around the line of the graph.
    """
    number = _test(step, plain)
    if not number:
        tests = {node.test.lineno: node for node in _tests(step.filename)}
        ran = {other.line for other in plain if other.filename == step.filename}
        around = [line for line, node in tests.items() if line in ran and _holds(node, step.line)]
        number = max(around, default=step.line)
    return line_at(step.filename, number, "")


def _test(step: Step, plain: Sequence[Step]) -> int:
    """Return the test before the first line of plain Python that computed a tensor; 0 if there is none."""
    tests = {node.test.lineno for node in _tests(step.filename)}
    steps_of_file = [other for other in plain if other.filename == step.filename]
    for before, after in zip(steps_of_file, steps_of_file[1:]):
        if before.line in tests and any(_tensor(value) is not None for value in after.values):
            return before.line
    return 0


_Test: TypeAlias = ast.If | ast.While | ast.IfExp


def _tests(filename: str) -> list[_Test]:
    """Return the statements and expressions of a file that test a value."""
    return [node for node in _nodes(filename) if isinstance(node, (ast.If, ast.While, ast.IfExp))]


def _nodes(filename: str) -> list[ast.AST]:
    """Return the nodes of a file's syntax tree; none if it cannot be parsed."""
    try:
        return list(ast.walk(ast.parse("".join(linecache.getlines(filename)))))
    except (SyntaxError, ValueError):
        return []


def _holds(node: _Test, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)
