"""The code that ran, from a dump: the compile of an event, and the calls in its texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field, replace

from depyf.bytecode.records import dataclass
from depyf.links.documents import CAPTURED, documents
from depyf.links.origins import Origin
from depyf.links.profile.calls import Call, graph_calls, matched, module_calls, plain_name
from depyf.model.index_reader import Run
from depyf.model.naming import title
from depyf.model.run import Compile, Function
from depyf.model.user_source import is_library_file

_DEF = re.compile(r"\s*(?:async\s+)?def\s")
_GRAPHS = ("forward_graph", "backward_graph", CAPTURED.lower())


@dataclass(frozen=True, slots=True)
class Text:
    """A module of Inductor's, or a graph that runs unlowered: its file in the dump, and its calls."""

    compile: str
    file: str
    is_backward: bool
    is_module: bool
    calls: tuple[Call, ...]

    def matched(self, events: Sequence[str]) -> list[Call | None]:
        """Return the call that each event ran for."""
        return matched(self.calls, events)


@dataclass(slots=True)
class Programs:
    """The compiles of a dump by their ids, and all their texts that run.

    Texts are looked up by the names of the events. The same names give the same text, so the result is cached.
    """

    compiles: dict[str, tuple[Function, Compile]] = field(default_factory=dict)
    texts: list[Text] = field(default_factory=list)
    heads: dict[str, Origin] = field(default_factory=dict)
    """The line of each compile's `def`, to which its guards are charged."""
    _known: dict[tuple[str, bool, bool, tuple[str, ...]], Text | None] = field(default_factory=dict)

    def text(self, compile_id: str, names: Sequence[str], *, is_module: bool, is_backward: bool) -> Text | None:
        """Return the text whose calls best match events with these names.

        compile_id: the compile in which they ran, or "".
        is_module: whether a module of Inductor's ran them, rather than an unlowered graph.
        is_backward: whether they ran in a backward.
        """
        key = compile_id, is_module, is_backward, tuple(names)
        if key not in self._known:
            self._known[key] = self._best(compile_id, names, is_module, is_backward)
        return self._known[key]

    def _best(self, compile_id: str, names: Sequence[str], is_module: bool, is_backward: bool) -> Text | None:
        best, most = None, 0
        wanted = {plain_name(name) for name in names}
        for text in self.texts:
            if compile_id and text.compile != compile_id:
                continue
            if (text.is_module, text.is_backward) != (is_module, is_backward):
                continue
            if wanted.isdisjoint(call.name.rstrip("_") for call in text.calls):
                continue
            seen = sum(call is not None for call in text.matched(names))
            # Of texts that explain the same events, take the one with the fewest calls that did not run.
            score = seen * 1_000_000 - len(text.calls)
            if seen and score > most:
                best, most = text, score
        return best

    def function_name(self, compile_id: str) -> str:
        """Return the name of a compile's function for readers, or "" if the dump does not have it."""
        if compile_id not in self.compiles:
            return ""
        return title(self.compiles[compile_id][0])

    def break_before(self, compile_id: str) -> Origin | None:
        """Return the line of the graph break before a resume function's compile, or None."""
        if compile_id not in self.compiles:
            return None
        function, _ = self.compiles[compile_id]
        if not function.is_resume:
            return None
        line = function.break_line if function.break_line is not None else function.resumes_at
        return (function.filename, line) if line is not None else None


def _head(run: Run, function: Function) -> Origin:
    """Return the line of a function's `def`, below its decorators."""
    rows = run.text(run.session.sources.get(function.filename, "")).splitlines()[function.first_line - 1 :]
    below = next((number for number, row in enumerate(rows) if _DEF.match(row)), 0)
    return function.filename, function.first_line + below


def _call_of_library(function: Function, compiled: Compile) -> Origin | None:
    """Return the user's line that calls a compiled function of a library, such as `torch.nn.Sequential.forward`."""
    users = [line for line in compiled.user_stack if not is_library_file(line.filename)]
    return (users[-1].filename, users[-1].line) if users and is_library_file(function.filename) else None


def _called(calls: list[Call], call: Origin | None) -> tuple[Call, ...]:
    """Return the calls of a text. If it names no line, all of it is for the call of a library's function."""
    if call is None or any(call.origins for call in calls):
        return tuple(calls)
    return tuple(replace(unplaced, origins=frozenset((call,))) for unplaced in calls)


def programs_of(run: Run) -> Programs:
    """Return the code that ran, from a dump."""
    programs = Programs()
    for function, compiled in run.session.compiles():
        compile_id = str(compiled.id.of_torch)
        programs.compiles[compile_id] = function, compiled
        call = _call_of_library(function, compiled)
        programs.heads[compile_id] = programs.break_before(compile_id) or call or _head(run, function)
        for document in documents(run, function, compiled):
            stem = document.key.split("-")[0]
            if stem == "kernel":
                is_backward = "backward" in document.key
                calls = _called(module_calls(document.text, document.links), call)
                programs.texts.append(Text(compile_id, document.file, is_backward, True, calls))
            elif stem in _GRAPHS:
                calls = _called(graph_calls(document.text, document.links), call)
                programs.texts.append(Text(compile_id, document.file, "backward" in document.key, False, calls))
    return programs
