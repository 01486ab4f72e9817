"""Run graphs and the code that torch generated around them from the files of their dump, while debugging."""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import field
from pathlib import Path

from depyf.bytecode.records import dataclass
from depyf.model.names import compiled_fn_number
from depyf.model.run import Artefact, Compile, Dialect, Transformed
from depyf.torch.adapters import interpreted, other_code, seams
from depyf.torch.capture.reachable import reachable_functions
from depyf.torch.dump.told import LiveCompile
from depyf.torch.stepping.kernels import interpreted_kernels
from depyf.torch.stepping.proven_codes import OF_FILE, code_of_file
from depyf.torch.stepping.steppable import SourceFile, Steppable

RUNNABLE = (Dialect.GRAPH, Dialect.KERNEL, Dialect.PYTHON)
"""The dialects of files that code can run in."""


@dataclass(slots=True)
class Steps:
    """The parts of one compile that can be stepped in its files, and why the others cannot.

    `files` holds the function and the line to break at for each file that runs; `kernels` does so for interpreted
    Triton kernels. `callers` are functions that interpret a graph with such a file, and code for them that calls the
    graph. `why_not_transformed` is the reason why the transformed code itself does not run from its file; empty if it
    does.
    """

    compile: Compile
    files: list[Steppable] = field(default_factory=list)
    kernels: list[Steppable] = field(default_factory=list)
    callers: list[tuple[types.FunctionType, types.CodeType]] = field(default_factory=list)
    reason: str = ""
    why_not_transformed: str = ""

    def replacements(self) -> list[tuple[types.FunctionType, types.CodeType]]:
        """Return the functions whose code is replaced while debugging, and their new code."""
        return [*((file.function, file.code) for file in [*self.files, *self.kernels]), *self.callers]


def find_steps(live: LiveCompile, directory: Path) -> Steps:
    """Return the steps of a compile in the files of `directory`. If there are none, `reason` says why."""
    steps = Steps(live.compile)
    code = live.code()
    if code is None:
        steps.reason = steps.why_not_transformed = "its function is gone"
        return steps
    steps.why_not_transformed = _why_not(live, code)
    graphs = _compiled_graphs(live.compile, code)
    if live.compile.compiled_fns and not graphs:
        steps.reason = "torch no longer has its graphs"
    for number, graph in graphs.items():
        _find_in(steps, graph, _files(live.compile, number, directory))
    return steps


def _why_not(live: LiveCompile, code: types.CodeType) -> str:
    """Return why the transformed code of a compile does not run from its file in `debug`; '' if it does."""
    transformed = live.compile.transformed
    if not isinstance(transformed, Transformed) or transformed.installed:
        return ""
    transformed_code = live.transformed() if live.transformed is not None else None
    in_file = OF_FILE.get(transformed_code) if transformed_code is not None else None
    if transformed_code is None or in_file is None:
        return transformed.reason or "its context leaves Dynamo's code in place"
    if in_file.code(transformed_code) is None:
        return in_file.reason
    return other_code.reason_against(code, seams.cache_entries(code))


def _find_in(steps: Steps, compiled: object, files: list[tuple[str, SourceFile]]) -> None:
    """Add the parts of one compiled graph that can be stepped in its files."""
    taken = {id(file.function) for file in steps.files}
    interpreting = []
    for function in reachable_functions(compiled):
        if id(function) in taken:
            continue
        graph = interpreted.graph_of(function)
        if graph is not None:
            interpreted.compiled_to_python(graph)  # The walk reaches the graph's code only later.
            interpreting.append((function, graph))
            continue
        ordered = _likeliest_first(function, files, steps.files)
        steppable = next((candidate for file in ordered if (candidate := file.steppable(function)) is not None), None)
        if steppable is not None:
            taken.add(id(function))
            steps.files.append(steppable)
            steps.kernels += interpreted_kernels(function, steppable.path)
    known = {id(function) for function, _ in steps.callers}
    steps.callers += [
        (function, interpreted.calling(function))
        for function, graph in interpreting
        if id(type(graph).forward) in taken and id(function) not in known
    ]


def _likeliest_first(
    function: types.FunctionType, files: list[tuple[str, SourceFile]], known: list[Steppable]
) -> list[SourceFile]:
    """Return files in the order in which a function is looked up in them, because several may hold the same function.

    The file that torch loaded the function from comes first. The parts of a split graph may also be alike. Files and
    parts are both in the order of the graph, so each part gets its own file.
    """
    written_as, name = function.__code__.co_filename, function.__code__.co_name
    used = {steppable.path for steppable in known if steppable.code.co_name == name}
    ordered = sorted(files, key=lambda pair: (pair[0] != written_as, pair[1].path in used))
    return [file for _, file in ordered]


@contextmanager
def transformed_from_files(live: Iterable[LiveCompile]) -> Iterator[None]:
    """Run transformed code in the lines of its files until the context ends, including code from earlier compiles."""
    codes = {id(code): code for live_compile in live if (code := live_compile.code()) is not None}
    with ExitStack() as undo:
        for code in codes.values():
            entries = seams.cache_entries(code)
            proven = [code_of_file(entry.code) for entry in entries]
            if any(code is not None for code in proven) and not other_code.reason_against(code, entries):
                # Entries without a file are loaded too: another entry must not serve their calls.
                others = [(entry, other or entry.code) for entry, other in zip(entries, proven, strict=True)]
                undo.callback(other_code.run_instead(code, others))
        yield


@contextmanager
def running_from_files(steps: list[Steps]) -> Iterator[None]:
    """Run the functions that can be stepped in the lines of their files, until the context ends."""
    replaced: list[tuple[types.FunctionType, types.CodeType]] = []
    try:
        for function, code in (replacement for step in steps for replacement in step.replacements()):
            replaced.append((function, function.__code__))
            function.__code__ = code
        yield
    finally:
        for function, code in reversed(replaced):
            function.__code__ = code


def _compiled_graphs(compiled: Compile, code: types.CodeType) -> dict[int, object]:
    """Return the graphs that the code of a compile calls, by number."""
    scope = _globals_of(code)
    names = compiled.transformed.names if isinstance(compiled.transformed, Transformed) else {}
    graphs = {}
    for name in compiled.compiled_fns:
        number = compiled_fn_number(name)
        graph = scope.get(names.get(name, name))
        if number is not None and graph is not None:
            graphs[number] = graph
    return graphs


def _globals_of(code: types.CodeType) -> Mapping[str, object]:
    for entry in seams.cache_entries(code):
        scope = seams.entry_globals(entry)
        if scope:
            return scope
    return {}


def _files(compiled: Compile, number: int, directory: Path) -> list[tuple[str, SourceFile]]:
    """Return the files of a graph that code can run in, each after the file to which torch wrote the same text."""
    files = []
    for artefact in compiled.artefacts:
        if artefact.dialect in RUNNABLE and _number_of(artefact) == number:
            try:
                files.append((artefact.origin, SourceFile(directory / artefact.file)))
            except (OSError, SyntaxError, ValueError):
                continue  # Removed, or not Python: no code can be stepped in it.
    return files


def _number_of(artefact: Artefact) -> int | None:
    return compiled_fn_number(artefact.file.split(".")[0])
