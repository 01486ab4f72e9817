"""Find the first line of the user's at which the graphs are not what the plain Python function does.

The plain function runs under a trace function, which notes the lines that run and the values that each of them sets.
The graphs name the user's line of each node. The first line that only one of the two ran, or at which they computed
another value, is where Dynamo read the program in another way than Python.
"""

from __future__ import annotations

import ast
import linecache
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor

from depyf.bytecode.records import dataclass
from depyf.model.user_line import UserLine
from depyf.model.user_source import is_library_file, line_at
from depyf.torch.numerics.comparing import Tolerance, deviation
from depyf.torch.numerics.places import user_line
from depyf.torch.numerics.recording import GraphCall

MOST_LINES = 20_000
"""The most lines of a run that are noted: a long loop would need all memory."""


@dataclass(frozen=True, slots=True)
class Step:
    """A line that ran, and the tensors and numbers that it computed."""

    filename: str
    line: int
    values: tuple[object, ...]


def plain_steps(run: Callable[[], object]) -> list[Step]:
    """Run a function as plain Python, and return the lines of the user's that ran, in order."""
    steps: list[Step] = []
    before: dict[types.FrameType, tuple[int, dict[str, int]]] = {}

    def finish(frame: types.FrameType, result: object = None) -> None:
        line, names = before.pop(frame, (0, {}))
        if line and len(steps) < MOST_LINES:
            values = [value for name, value in frame.f_locals.items() if names.get(name) != id(value)]
            steps.append(Step(frame.f_code.co_filename, line, (*map(_copied, values), _copied(result))))

    def trace(frame: types.FrameType, event: str, argument: object) -> Any:
        if is_library_file(frame.f_code.co_filename) or frame.f_code.co_filename.startswith("<"):
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
            if steps and (steps[-1].filename, steps[-1].line) == (where.filename, where.line):
                steps[-1] = Step(where.filename, where.line, (*steps[-1].values, values.get(node)))
            else:
                steps.append(Step(where.filename, where.line, (values.get(node),)))
    return steps


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
        found = next((index for index in later if (plain[index].filename, plain[index].line) == place), None)
        if found is None:
            return _decision(step, plain[at:])
        at = found
        if not _agrees(step, plain[found]):
            return line_at(step.filename, step.line, "")
    last = plain[-1] if plain else None
    return line_at(last.filename, last.line, "") if last is not None else None


def _agrees(step: Step, plain: Step) -> bool:
    """Return whether the last value of a line's nodes is among the values that the line set, if both are known."""
    known = [value for value in map(_tensor, plain.values) if value is not None]
    computed = _tensor(step.values[-1]) if step.values else None
    if computed is None or not known or all(value.shape != computed.shape for value in known):
        return True
    same = [value for value in known if value.shape == computed.shape and value.dtype == computed.dtype]
    return any(deviation(computed, value, Tolerance()) is None for value in same) if same else True


def _tensor(value: object) -> Tensor | None:
    if isinstance(value, Tensor):
        return value.detach() if value.layout is torch.strided else None
    return torch.as_tensor(value) if hasattr(value, "__array__") and not isinstance(value, type) else None


def _decision(step: Step, plain: Sequence[Step]) -> UserLine:
    """Return the test that sent the graph to a line that plain Python did not run; the line itself if there is none.

    It is the test before the first line of plain Python that computed a tensor where the graph went elsewhere, or the
    innermost test around the line of the graph.
    """
    tests = {node.test.lineno: node for node in _tests(step.filename)}
    own = [other for other in plain if other.filename == step.filename]
    for before, after in zip(own, own[1:]):
        if before.line in tests and any(_tensor(value) is not None for value in after.values):
            return line_at(step.filename, before.line, "")
    ran = {other.line for other in own}
    around = [line for line, node in tests.items() if line in ran and _holds(node, step.line)]
    return line_at(step.filename, max(around, default=step.line), "")


_Test: TypeAlias = ast.If | ast.While | ast.IfExp


def _tests(filename: str) -> list[_Test]:
    """Return the statements and expressions of a file that test a value."""
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError):
        return []
    return [node for node in ast.walk(tree) if isinstance(node, (ast.If, ast.While, ast.IfExp))]


def _holds(node: _Test, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)
