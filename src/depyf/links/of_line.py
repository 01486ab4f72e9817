"""Find the compiles that read one of the user's lines, and the graph nodes and lines of kernels that came from it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import PurePath
from typing import TypeAlias

from depyf.bytecode.records import dataclass
from depyf.links.documents import Document, documents
from depyf.links.kernel_calls import kernel_calls
from depyf.links.kernel_definitions import kernel_definitions
from depyf.links.line_states import line_states
from depyf.links.origins import Origin, Origins
from depyf.model.index_reader import Run
from depyf.model.run import Compile, Dialect, Function, Session

GRAPHS = ("captured_graph", "joint_graph", "forward_graph", "after_post_grad")
"""The graphs in which a line is looked up: the first that has nodes of the line."""

_NODE = re.compile(r'^\s+(?P<name>\w+)(: "[^"]*")? = (?P<value>\S.*?)(;  [\w ,=]+ = None)?;?$')
_INPUT = re.compile(r"^\w+$")
_STATEMENT = re.compile(r"=|\.store\(|tl\.store")
_FRAME_OF_KERNEL = re.compile(
    r"\s*(#|extern |for\b|for\(|if\b|if\(|std::atomic|inductor_cpu_|[{}]|const (float|int|bool)\b)"
)

Row = tuple[int, str]
"""The number of a line of a file, and its text."""


@dataclass(frozen=True, slots=True)
class GraphPart:
    """The nodes of a graph that come from a line."""

    stage: str
    file: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class KernelPart:
    """A kernel that computes a line, and the lines of its text that compute it.

    name: the kernel; a library's kernel has the name of its function, such as `extern_kernels.mm`.
    part: `forward`, `backward` or "".
    line: where its definition begins in the file; for a library's kernel, its first call.
    rows: the lines for this line of the user's; the calls for a library's kernel.
    is_linked: whether the rows are linked to the line. If no row is, `rows` are those that are linked to no line.
    others: the other lines of the user's that the kernel computes.
    """

    name: str
    part: str
    file: str
    line: int
    rows: tuple[Row, ...]
    others: tuple[Origin, ...]
    is_linked: bool = True


@dataclass(frozen=True, slots=True)
class CompiledLine:
    """A compile that read a line, and the line's parts in its graphs and kernels."""

    function: Function
    compile: Compile
    graphs: tuple[GraphPart, ...]
    kernels: tuple[KernelPart, ...]


Parts: TypeAlias = tuple[tuple[GraphPart, ...], tuple[KernelPart, ...]]
"""The nodes, kernels and guards of a line in one compile."""

_COMPARED = (Dialect.GRAPH, Dialect.KERNEL)
_TITLE = re.compile(r"\A#.*\n")
"""The first line of a text, which names the compile. Recompiles often have equal texts below it."""


def is_same_file(named: str, asked: str) -> bool:
    """Return whether a file of the index is the one that is asked for, by its path, the end of it, or its name.

    >>> is_same_file("models/net.py", "net.py"), is_same_file("/a/models/net.py", "models/net.py")
    (True, True)
    >>> is_same_file("mynet.py", "net.py")
    False
    """
    named_parts, other = PurePath(named).parts, PurePath(asked).parts
    shorter = min(len(named_parts), len(other))
    return bool(shorter) and named_parts[-shorter:] == other[-shorter:]


def read_lines(session: Session) -> dict[str, set[int]]:
    """Return the lines that a compile of the run read, by file. Of older torch, those that the model names."""
    lines: dict[str, set[int]] = {}
    for read in line_states(session):
        lines.setdefault(read.filename, set()).update(read.states)
    for function, compiled in session.compiles():
        lines.setdefault(function.filename, set())
        for graph_break in compiled.breaks:
            if graph_break.where is not None:
                lines.setdefault(graph_break.where.filename, set()).add(graph_break.where.line)
    return lines


def compiles_of_line(run: Run, place: Origin) -> Iterator[CompiledLine]:
    """Yield the compiles that read a line, or have a text that is linked to it.

    Args:
        run: the run.
        place: a file, by its name in the index, and a line.
    """
    known: dict[tuple[str, ...], tuple[Parts, list[str]]] = {}
    for function, compiled in run.session.compiles():
        has_read = any(read.filename == place[0] and place[1] in read.lines for read in compiled.lines)
        if compiled.lines and not has_read:
            continue
        files = [artefact.file for artefact in compiled.artefacts if artefact.dialect in _COMPARED]
        texts = tuple(_TITLE.sub("", run.text(file)) for file in files)
        if texts not in known:
            known[texts] = _parts(documents(run, function, compiled), place), files
        (graphs, kernels), earlier = known[texts]
        renamed = dict(zip(earlier, files, strict=True))
        if has_read or graphs or kernels:
            yield CompiledLine(
                function,
                compiled,
                tuple(replace(part, file=renamed[part.file]) for part in graphs),
                tuple(replace(part, file=renamed[part.file]) for part in kernels),
            )


def _parts(texts: list[Document], place: Origin) -> Parts:
    """Return the nodes and the kernels of a compile that come from a line."""
    modules = [text for text in texts if text.is_kernels]
    has_backward = any(_is_backward(text) for text in modules)
    kernels = tuple(part for text in modules for part in kernel_parts(text, place, has_backward))
    return tuple(_graph_parts(texts, place)), kernels


def _graph_parts(texts: list[Document], place: Origin) -> Iterator[GraphPart]:
    for stage in GRAPHS:
        parts = []
        for text in texts:
            if text.key.startswith(stage) and "backward" not in text.key:
                rows = tuple(_nodes(text, place))
                parts += [GraphPart(text.label, text.file, rows)] if rows else []
        if parts:
            yield from parts
            return


def _nodes(text: Document, place: Origin) -> Iterator[Row]:
    """Yield the nodes of a graph that come from a place, without types, inputs, and names that are freed.

    before: `        h: "f32[8]" = torch.relu(x);  x = None`, `        x = L_x_`
    after: `h = torch.relu(x)`
    """
    rows = text.text.split("\n")
    for number, origins in sorted(text.links.lines.items()):
        node = _NODE.match(rows[number - 1]) if place in origins and number <= len(rows) else None
        if node is not None and not _INPUT.match(node["value"]):
            yield number, f"{node['name']} = {node['value']}"


def _is_backward(text: Document) -> bool:
    return text.key.startswith("kernel-backward")


def kernel_parts(text: Document, place: Origin, has_backward: bool) -> Iterator[KernelPart]:
    """Yield the kernels of a module that compute a place, in the order of their first calls.

    Args:
        text: the module.
        place: the user's line.
        has_backward: whether the compile has a backward; without it, a kernel belongs to no part.
    """
    rows = text.text.split("\n")
    part = "" if not has_backward else "backward" if _is_backward(text) else "forward"
    calls: dict[str, list[int]] = {}
    for call in kernel_calls(text.text):
        if place in text.links.of(call.line):
            calls.setdefault(call.name, []).append(call.line)
    definitions = {definition.name: definition for definition in kernel_definitions(text.text)}
    for name, numbers in calls.items():
        definition = definitions.get(name)
        if definition is None:
            origins = text.links.of(numbers[0])
            lines = tuple((number, rows[number - 1].strip()) for number in numbers)
            yield KernelPart(name, part, text.file, numbers[0], lines, _others(origins, place))
            continue
        whole = text.links.of(definition.first)
        inside = range(definition.first + 1, definition.last)
        lines = tuple(
            (number, rows[number - 1])
            for number in inside
            if place in text.links.of(number) and _computes(rows[number - 1], text.links.of(number), whole)
        )
        unlinked = tuple(
            (number, rows[number - 1])
            for number in inside
            if not text.links.of(number) and _is_statement(rows[number - 1])
        )
        others = _others(whole, place)
        yield KernelPart(name, part, text.file, definition.first, lines or unlinked, others, bool(lines))


def _computes(row: str, origins: Origins, whole: Origins) -> bool:
    """Return whether a row of a kernel computes its origins. Other rows have the origins of their whole kernel."""
    if len(whole) > 1:
        return origins != whole
    return _is_statement(row)


def _is_statement(row: str) -> bool:
    """Return whether a row computes or stores something: it is no loop, no condition, and no head of the kernel."""
    return _STATEMENT.search(row) is not None and _FRAME_OF_KERNEL.match(row) is None


def _others(origins: Iterable[Origin], place: Origin) -> tuple[Origin, ...]:
    return tuple(sorted(origin for origin in origins if origin != place))
