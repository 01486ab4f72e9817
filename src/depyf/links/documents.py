"""All texts of one compile in the order of the compiler's stages, each linked to the user's lines."""

from __future__ import annotations

import re
from collections.abc import Iterable

from depyf.bytecode.records import dataclass
from depyf.links.bytecode import OF_ORIGINAL, bytecode_links, dynamo_links
from depyf.links.flow import flow
from depyf.links.graphs import Places, graph_links, graph_places, moved_since, node_origins
from depyf.links.inductor.graph import read_graph
from depyf.links.inductor.line import Launched
from depyf.links.inductor.lines import launched, origins_of_lines
from depyf.links.inductor.module import read_module
from depyf.links.kernels import Computed, computed_by, kernel_links
from depyf.links.metadata import metadata_links
from depyf.links.origins import NOWHERE, Links, Origin, Origins, joined
from depyf.links.runnable import runnable_links
from depyf.links.transformed import GraphPlaces, Seen, transformed_links
from depyf.links.wrappers import RENUMBERING, Wrapped, wrapper_links
from depyf.model.index_reader import Run
from depyf.model.names import graph_number
from depyf.model.run import Artefact, Compile, Dialect, Function, GuardSet, Transformed
from depyf.model.user_line import UserLine

STACK_TRACES = "inductor_provenance_tracking_kernel_stack_traces"
MAPPINGS = "inductor_provenance_tracking_node_mappings"

CAPTURED = "Captured_Graph"
RUNNABLE = "fx_graph_runnable"
METADATA = "aot_forward_graph_fw_metadata"

LABELS = {
    "Captured_Graph": "captured graph",
    "BEFORE_PRE_GRAD": "before pre-grad",
    "AFTER_PRE_GRAD": "after pre-grad",
    "BEFORE_JOINT_PASSES": "before joint passes",
    "AFTER_JOINT_PASSES": "after joint passes",
    "Joint_graph": "joint",
    "Forward_graph": "forward",
    "Backward_graph": "backward",
    "BEFORE_POST_GRAD": "before post-grad",
    "AFTER_POST_GRAD": "post-grad",
    "kernel": "kernels",
}
LEADING = ("Captured_Graph", "Joint_graph", "Forward_graph", "Backward_graph", "AFTER_POST_GRAD", "kernel")
"""Stages with a tab of their own. The stages between them are in a menu."""

ORIGINAL, TRANSFORMED, BACK = (
    "original_bytecode",
    "transformed_bytecode",
    "decompiled_and_compiled_back_bytecode",
)
LISTINGS = {ORIGINAL: "original bytecode", TRANSFORMED: "transformed bytecode", BACK: "recompiled bytecode"}

OF_WHOLE = "it describes the whole graph: no line of it is linked to a line of yours"


@dataclass(frozen=True, slots=True)
class Document:
    """One text about a compile.

    key: its name in the page's addresses, unique in its compile.
    language: `python`, `cpp`, `bytecode`, `json` or `text`.
    is_leading: whether it has its own tab.
    file: its path in the dump, or empty.
    """

    key: str
    label: str
    language: str
    is_leading: bool
    file: str
    text: str
    links: Links

    @property
    def is_kernels(self) -> bool:
        """Return whether it is a module of Inductor's."""
        return self.key.startswith("kernel")


def documents(run: Run, function: Function, compiled: Compile) -> list[Document]:
    """Return the texts of a compile of `function`.

    Args:
        run: the run, which holds the texts.
        function: the function that was compiled.
        compiled: the compile.
    """
    parts = _parts(compiled.artefacts)
    places = _captured_places(run, compiled)
    graphs = [
        _graph(run, artefact, parts[index], places)
        for index, artefact in enumerate(compiled.artefacts)
        if artefact.dialect is Dialect.GRAPH
    ]
    captured = _captured(graphs)
    texts = _transformed(run, function, compiled, captured)
    texts += _guards(compiled)
    texts += graphs
    texts += _kernels(run, compiled, parts, graphs, places)
    texts += _beside_graphs(run, compiled, graphs, captured)
    texts += _listings(run, function, compiled, captured, texts[0].links)
    return _with_own_keys(text for text in texts if text.text)


def compiled_file(compiled: Compile) -> str:
    """Return the file of a compile's transformed code, or ""."""
    return compiled.transformed.file if isinstance(compiled.transformed, Transformed) else ""


def origin_of(line: UserLine | None) -> Origins:
    """Return a line of the model as a place."""
    return frozenset(((line.filename, line.line),)) if line is not None else NOWHERE


def _with_own_keys(texts: Iterable[Document]) -> list[Document]:
    taken: dict[str, int] = {}
    documents_with_keys = []
    for text in texts:
        count = taken.get(text.key, 0)
        taken[text.key] = count + 1
        key, label = (f"{text.key}-{count + 1}", f"{text.label} {count + 1}") if count else (text.key, text.label)
        documents_with_keys.append(
            Document(key, label, text.language, text.is_leading, text.file, text.text, text.links)
        )
    return documents_with_keys


def _parts(artefacts: list[Artefact]) -> list[str]:
    """Return for each artefact whether it belongs to the forward or the backward, or "" if that is unknown.

    Inductor lowers one graph after the other. What follows a module up to the next graph belongs to the module, and
    that graph to the next module.
    """
    parts = [artefact.part for artefact in artefacts]
    begin = 0
    for index, artefact in enumerate(artefacts):
        if artefact.dialect is not Dialect.KERNEL:
            continue
        end = index + 1
        while end < len(artefacts) and artefacts[end].dialect not in (Dialect.GRAPH, Dialect.KERNEL):
            end += 1
        for between in range(begin, end):
            if "POST_GRAD" in artefacts[between].stage or artefacts[between].stage in (STACK_TRACES, MAPPINGS):
                parts[between] = artefact.part
        begin = end
    return parts


def _captured_places(run: Run, compiled: Compile) -> Places:
    places: dict[Origin, str] = {}
    for artefact in compiled.artefacts:
        if artefact.stage == CAPTURED:
            places.update(graph_places(run.text(artefact.file), run.names))
    return places


def _graph(run: Run, artefact: Artefact, part: str, captured: Places) -> Document:
    text = run.text(artefact.file)
    label = LABELS.get(artefact.stage, artefact.stage.replace("_", " "))
    is_backward = part == "backward"
    return Document(
        key=artefact.stage.lower() + ("-backward" if is_backward else ""),
        label=f"{label} backward" if is_backward else label,
        language="python",
        is_leading=artefact.stage in LEADING,
        file=artefact.file,
        text=text,
        links=graph_links(text, run.names, captured),
    )


def _captured(graphs: list[Document]) -> dict[int, GraphPlaces]:
    places: dict[int, GraphPlaces] = {}
    for graph in graphs:
        number = graph_number(graph.file)
        if number is not None and graph.key == "captured_graph":
            through = flow(graph.text, graph.links.lines)
            places[number] = GraphPlaces(graph.links.all(), through.inputs, through.outputs)
    return places


def _transformed(run: Run, function: Function, compiled: Compile, captured: dict[int, GraphPlaces]) -> list[Document]:
    file = compiled_file(compiled)
    text = run.text(file)
    breaks = joined(origin_of(graph_break.where) for graph_break in compiled.breaks)
    changes = joined(origin_of(line) for effect in compiled.effects for line in effect.lines)
    begins = function.filename, function.first_line if function.resumes_at is None else function.resumes_at
    links = transformed_links(text, captured, Seen(breaks, changes), begins)
    return [Document("transformed", "transformed code", "python", True, file, text, links)]


def _guards(compiled: Compile) -> list[Document]:
    if not isinstance(compiled.guards, GuardSet):
        return []
    rows = [" ".join(guard.clause.split("\n")) for guard in compiled.guards.guards]
    lines = {
        number: origin_of(guard.where)
        for number, guard in enumerate(compiled.guards.guards, start=1)
        if guard.where is not None
    }
    links = Links(lines, "torch names no line that needs this guard")
    return [Document("guards", f"guards ({len(rows)})", "python", True, "", "\n".join(rows), links)]


@dataclass(frozen=True, slots=True)
class KernelSource:
    """A module of Inductor's, the graph that it lowers if it is known, and the nodes that its launches compute if
    recorded.
    """

    artefact: Artefact
    part: str
    text: str
    graph: Document | None
    computed: dict[str, Computed] | None

    @property
    def nodes(self) -> dict[str, Origins]:
        """The origins of the graph's nodes, by name."""
        return node_origins(self.graph.text, self.graph.links) if self.graph is not None else {}

    def launched(self) -> list[Launched]:
        """Return the launches of the module's kernels, each line with its nodes."""
        computed = {handle: call.nodes for handle, call in (self.computed or {}).items() if call.nodes}
        graph = read_graph(self.graph.text if self.graph is not None else "")
        return launched(read_module(self.text), graph, computed)


def kernel_sources(run: Run, compiled: Compile) -> list[KernelSource]:
    """Return Inductor's modules of a compile, in order."""
    parts = _parts(compiled.artefacts)
    places = _captured_places(run, compiled)
    pairs = zip(compiled.artefacts, parts, strict=True)
    graphs = [_graph(run, artefact, part, places) for artefact, part in pairs if artefact.dialect is Dialect.GRAPH]
    return _kernel_sources(run, compiled, parts, graphs)


def _kernel_sources(run: Run, compiled: Compile, parts: list[str], graphs: list[Document]) -> list[KernelSource]:
    sources = []
    for index, artefact in enumerate(compiled.artefacts):
        if artefact.dialect is not Dialect.KERNEL:
            continue
        part = parts[index]
        lowered = [graph for graph in graphs if graph.key == _lowered_key(part) and _same_graph(graph, artefact)]
        computed = computed_by(
            _beside(run, compiled, parts, index, STACK_TRACES), _beside(run, compiled, parts, index, MAPPINGS)
        )
        sources.append(
            KernelSource(artefact, part, run.text(artefact.file), lowered[-1] if lowered else None, computed)
        )
    return sources


def _kernels(
    run: Run, compiled: Compile, parts: list[str], graphs: list[Document], captured: Places
) -> list[Document]:
    documents_of_kernels = []
    for source in _kernel_sources(run, compiled, parts, graphs):
        nodes, is_backward = source.nodes, source.part == "backward"
        inside = origins_of_lines(source.launched(), nodes)
        moved = moved_since(source.graph.text, run.names, captured) if source.graph is not None else None
        documents_of_kernels.append(
            Document(
                key="kernel-backward" if is_backward else "kernel",
                label="kernels backward" if is_backward else "kernels",
                language="cpp" if "cpp_pybinding" in source.text else "python",
                is_leading=True,
                file=source.artefact.file,
                text=source.text,
                links=kernel_links(
                    source.text, source.computed, nodes, run.names, frozenset(captured), moved or {}, inside
                ),
            )
        )
    return documents_of_kernels


def _lowered_key(part: str) -> str:
    return "after_post_grad-backward" if part == "backward" else "after_post_grad"


def _same_graph(graph: Document, other: Artefact) -> bool:
    return _graph_number(graph.file) == _graph_number(other.file)


def _graph_number(file: str) -> int | None:
    return graph_number(file.rpartition("/")[2])


def _beside(run: Run, compiled: Compile, parts: list[str], kernel: int, stage: str) -> str:
    """Return what Inductor wrote about its module number `kernel`, immediately before or after it."""
    for step in (1, -1):
        index = kernel + step
        while 0 <= index < len(compiled.artefacts) and compiled.artefacts[index].dialect is not Dialect.KERNEL:
            if compiled.artefacts[index].stage == stage and parts[index] == parts[kernel]:
                return run.text(compiled.artefacts[index].file)
            index += step
    return ""


def _beside_graphs(
    run: Run, compiled: Compile, graphs: list[Document], captured: dict[int, GraphPlaces]
) -> list[Document]:
    """Return AOTAutograd's wrappers around the graphs, and torch's notes about them."""
    beside = []
    is_in_order = not any(artefact.stage in RENUMBERING for artefact in compiled.artefacts)
    for artefact in compiled.artefacts:
        if artefact.stage in (STACK_TRACES, MAPPINGS) or not _is_beside(artefact, run):
            continue
        text, links = run.text(artefact.file), Links({}, OF_WHOLE)
        number = _graph_number(artefact.file)
        if artefact.dialect is Dialect.PYTHON and number in captured:
            backward = joined(graph.links.all() for graph in graphs if graph.key == "backward_graph")
            links = wrapper_links(text, Wrapped(captured[number], backward, is_in_order))
        elif artefact.stage == METADATA and number in captured and is_in_order:
            links = metadata_links(text, captured[number])
        elif artefact.stage == RUNNABLE:
            graphs_of_same = ((graph.text, graph.links) for graph in graphs if _same_graph(graph, artefact))
            links = runnable_links(text, graphs_of_same)
        elif artefact.dialect is Dialect.TEXT and " File: " in text:
            # torch prints an exported program like a graph, with the user's lines above its nodes.
            links = graph_links(text, run.names)
        label = re.sub(r"^aot ", "AOT ", artefact.stage.replace("_", " "), flags=re.IGNORECASE)
        beside.append(Document(artefact.stage.lower(), label, _language(artefact), False, artefact.file, text, links))
    return beside


def _is_beside(artefact: Artefact, run: Run) -> bool:
    """Return whether an artefact is a text beside the graphs and kernels that somebody reads.

    Nobody reads records of caches and programs that repeat a graph. A large dump has them in its archive.
    """
    if artefact.dialect in (Dialect.GRAPH, Dialect.KERNEL):
        return False
    is_for_machines = artefact.dialect is Dialect.JSON or artefact.stage == RUNNABLE
    return not (is_for_machines and artefact.file in run.session.packed)


def _language(artefact: Artefact) -> str:
    if artefact.dialect is Dialect.PYTHON or artefact.file.endswith(".py"):
        return "python"
    return "json" if artefact.file.endswith("json") else "text"


def _listings(
    run: Run, function: Function, compiled: Compile, captured: dict[int, GraphPlaces], transformed: Links
) -> list[Document]:
    stem = compiled_file(compiled).removesuffix(".py")
    if not stem:
        return []

    def of_user(line: int) -> frozenset[Origin]:
        return frozenset(((function.filename, line),))

    whole = {number: places.all for number, places in captured.items()}
    listed = compiled.transformed.lines_of_bytecode if isinstance(compiled.transformed, Transformed) else ()
    files = {kind: f"{stem}.{kind}" for kind in LISTINGS}
    texts = {kind: run.text(file) for kind, file in files.items()}
    links = {
        ORIGINAL: bytecode_links(texts[ORIGINAL], of_user, OF_ORIGINAL),
        TRANSFORMED: dynamo_links(texts[TRANSFORMED], listed, transformed.of, whole),
        BACK: bytecode_links(texts[BACK], transformed.of, "its line of the transformed code has no link"),
    }
    return [
        Document(kind, label, "bytecode", False, files[kind], texts[kind], links[kind])
        for kind, label in LISTINGS.items()
    ]
