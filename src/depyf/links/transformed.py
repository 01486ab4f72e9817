"""Link the lines of a transformed function by its calls of graphs, their inputs and outputs, and its resume functions.

before:
    weight = self._parameters['weight']
    lt, x = __compiled_fn_1(weight, b)
    # graph break at :13, ...
    if lt:
        return __resume_at_102_2([], [], b, x)  # continues in the user's line 14
after: the first line is linked to the lines of graph 1 that use its first input, the second to all lines of graph 1,
the third to line 13, the fourth to the line of the graph's first output, the last to line 14
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from depyf.bytecode.records import dataclass
from depyf.links.origins import NOWHERE, Links, Origin, Origins, joined
from depyf.model.names import compiled_fn_number

NOTE = "no input or output of a graph passes through it"

_BREAK = re.compile(r"^\s*# graph break at (?P<file>[^:`,]*):(?P<line>\d+)")
_CHANGES = re.compile(r"  # ([^\s:]*:\d+ .*)$")
_LINE = re.compile(r"(?:^|   )([^\s:]*):(\d+) ")
_CONTINUES = re.compile(r"# continues in the user's line (\d+)$")


@dataclass(frozen=True, slots=True)
class GraphPlaces:
    """The lines of a graph: all of them, and those that use each input and produce each output, in order."""

    all: Origins = NOWHERE
    inputs: tuple[Origins, ...] = ()
    outputs: tuple[Origins, ...] = ()


Graphs = Mapping[int, GraphPlaces]


@dataclass(frozen=True, slots=True)
class Seen:
    """The user's lines that torch named during the compile: lines that ended a graph or change an object."""

    breaks: Origins = NOWHERE
    changes: Origins = NOWHERE


def transformed_links(text: str, graphs: Graphs, seen: Seen, begins: Origin) -> Links:
    """Return the origin of each line of a transformed function's file.

    Args:
        text: the source of Dynamo's code, with depyf's comments.
        graphs: the graphs that it may call, by number.
        seen: the lines that torch named. A comment without a file name means a line in the function's own file.
        begins: the line of the user's function, or the line at which a resume function continues.
    """
    own_file, _ = begins
    lines = _of_comments(text, seen.breaks, own_file)
    changes = _of_changes(text, seen.changes, own_file)
    for number, origins in _of_code(text, graphs, changes):
        if number not in lines and origins:
            lines[number] = origins
    for number, origins in changes.items():
        lines.setdefault(number, origins)
    for number in _heads(text):
        lines[number] = frozenset((begins,))
    return Links(lines, NOTE)


def _of_comments(text: str, breaks: Origins, own_file: str) -> dict[int, Origins]:
    places: dict[int, list[Origin]] = {}
    for number, row in enumerate(text.splitlines(), start=1):
        broke, continues = _BREAK.match(row), _CONTINUES.search(row)
        if broke is not None:
            at, file = int(broke["line"]), broke["file"]
            places[number] = _named(file, at, breaks, own_file)
        elif continues is not None:
            places[number] = [(own_file, int(continues[1]))]
    return {number: frozenset(places) for number, places in places.items() if places}


def _named(file: str, line: int, seen: Origins, own_file: str) -> list[Origin]:
    """Return the lines in a comment: lines of `seen`, or of the function's own file if the comment names no file."""
    if not file:
        return [(own_file, line)]
    return [place for place in seen if place[1] == line and place[0].rpartition("/")[2] == file]


def _heads(text: str) -> Iterator[int]:
    return (number for number, row in enumerate(text.splitlines(), start=1) if row.startswith("def "))


def _of_changes(text: str, changes: Origins, own_file: str) -> dict[int, Origins]:
    """Return the lines of statements that change an object, as their comments name them."""
    origins = {}
    for number, row in enumerate(text.splitlines(), start=1):
        comment = _CHANGES.search(row)
        if comment is not None:
            named = (_named(file, int(line), changes, own_file) for file, line in _LINE.findall(comment[1]))
            origins[number] = joined(map(frozenset, named))
    return {number: places for number, places in origins.items() if places}


def _of_code(text: str, graphs: Graphs, changes: Mapping[int, Origins]) -> Iterator[tuple[int, Origins]]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    statements = sorted(
        (node for node in ast.walk(tree) if isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef)),
        key=lambda node: (node.lineno, node.col_offset),
    )
    needed: dict[str, Origins] = {}
    wanted: dict[int, Origins] = {}
    for statement in reversed(statements):
        if not any(_calls(statement, graphs)):
            for name in _loaded(statement) if statement.lineno in changes else ():
                needed[name] = joined((needed.get(name, NOWHERE), changes[statement.lineno]))
        wanted[id(statement)] = _needs(statement, graphs, needed)
    outputs: dict[str, Origins] = {}
    for statement in statements:
        called = joined(places.all for places, _ in _calls(statement, graphs))
        used = joined(outputs.get(name, NOWHERE) for name in _loaded(statement))
        _note_outputs(statement, graphs, outputs)
        for number in _own_lines(statement):
            yield number, called or wanted[id(statement)] or used


def _needs(statement: ast.stmt, graphs: Graphs, needed: dict[str, Origins]) -> Origins:
    """Return the lines that use the variables that a statement assigns, and record the variables that it uses."""
    for places, call in _calls(statement, graphs):
        for argument, origins in zip(call.args, places.inputs, strict=False):
            for name in _names_in(argument):
                needed[name] = joined((needed.get(name, NOWHERE), origins))
        return NOWHERE
    if not isinstance(statement, ast.Assign):
        return NOWHERE
    wanted = joined(needed.get(name, NOWHERE) for target in statement.targets for name in _names_in(target))
    for name in _names_in(statement.value) if wanted else ():
        needed[name] = joined((needed.get(name, NOWHERE), wanted))
    return wanted


def _note_outputs(statement: ast.stmt, graphs: Graphs, outputs: dict[str, Origins]) -> None:
    """Record the origins of the variables that a statement sets to outputs of a graph.

    before: `a, b = __compiled_fn_1(x)`, or `a = __compiled_fn_1(x)[0]`
    """
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    target, value = statement.targets[0], statement.value
    for places, call in _calls(statement, graphs):
        if value is call and isinstance(target, (ast.Tuple, ast.List)):
            pairs = zip(target.elts, places.outputs, strict=False)
            outputs.update((element.id, origins) for element, origins in pairs if isinstance(element, ast.Name))
        elif isinstance(value, ast.Subscript) and value.value is call and isinstance(target, ast.Name):
            index = value.slice.value if isinstance(value.slice, ast.Constant) else None
            if isinstance(index, int) and index < len(places.outputs):
                outputs[target.id] = places.outputs[index]


def _calls(statement: ast.stmt, graphs: Graphs) -> Iterator[tuple[GraphPlaces, ast.Call]]:
    """Yield the calls of graphs in a statement's own line, without those in nested statements."""
    for node in _own_nodes(statement):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            number = compiled_fn_number(node.func.id)
            if number is not None and number in graphs:
                yield graphs[number], node


def _own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        yield node
        pending += [
            child for child in ast.iter_child_nodes(node) if not isinstance(child, (ast.stmt, ast.excepthandler))
        ]


def _own_lines(statement: ast.stmt) -> range:
    body = getattr(statement, "body", None)
    last = statement.lineno if body else statement.end_lineno or statement.lineno
    return range(statement.lineno, last + 1)


def _loaded(statement: ast.stmt) -> Iterator[str]:
    for node in _own_nodes(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id


def _names_in(expression: ast.expr) -> Iterator[str]:
    return (node.id for node in ast.walk(expression) if isinstance(node, ast.Name))
