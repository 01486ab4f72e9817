"""The index of kernels: each by name, with the compiles that call it and the place of its first call."""

from __future__ import annotations

from collections.abc import Mapping

from depyf.bytecode.records import dataclass
from depyf.links.kernel_calls import kernel_calls
from depyf.model.index_reader import Run
from depyf.model.naming import title
from depyf.model.run import Compile, Dialect
from depyf.model.tuning import INFO, TIMES, Choice, Tuned, choices, tuned
from depyf.views.html.function_data import entry_key


@dataclass(frozen=True, slots=True)
class KernelRow:
    """A kernel of one module: the number of its calls, and the address of the first."""

    name: str
    calls: int
    function: str
    compile: str
    part: str
    address: str
    tuned: Tuned = Tuned()


@dataclass(frozen=True, slots=True)
class ChoiceRow:
    """A choice between templates and libraries, and the compile for which it was made."""

    choice: Choice
    function: str
    compile: str


def kernel_rows(run: Run, addresses: Mapping[str, str]) -> list[KernelRow]:
    """Return the kernels of a run in the order of its compiles; in a module, in the order of their first calls."""
    rows = []
    for function, compiled in run.session.compiles():
        known = tuned(_texts(run, compiled, INFO), _texts(run, compiled, TIMES))
        for artefact in compiled.artefacts:
            if artefact.dialect is not Dialect.KERNEL:
                continue
            lines: dict[str, list[int]] = {}
            for call in kernel_calls(run.text(artefact.file)):
                lines.setdefault(call.name, []).append(call.line)
            tab = "kernel-backward" if artefact.part == "backward" else "kernel"
            page = f"{addresses[function.root]}/{entry_key(compiled)}/{tab}"
            of = title(function), str(compiled.id), artefact.part
            rows += [
                KernelRow(name, len(call_lines), *of, f"{page}/L{call_lines[0]}", known.get(name, Tuned()))
                for name, call_lines in lines.items()
            ]
    return rows


def choice_rows(run: Run) -> list[ChoiceRow]:
    """Return the choices of kernels of a run, in the order of its compiles."""
    return [
        ChoiceRow(choice, title(function), str(compiled.id))
        for function, compiled in run.session.compiles()
        for choice in choices(_texts(run, compiled, TIMES))
    ]


def _texts(run: Run, compiled: Compile, stage: str) -> list[str]:
    return [run.text(artefact.file) for artefact in compiled.artefacts if artefact.stage == stage and artefact.file]
