"""The data of one process of the run for the page."""

from __future__ import annotations

import re
from dataclasses import field
from functools import cached_property
from pathlib import Path

from depyf.bytecode.records import dataclass
from depyf.findings import findings
from depyf.findings.cache_misses.looks import Look, looks
from depyf.links.line_states import FunctionLines, line_states
from depyf.model.compile_times import read_times, times_json
from depyf.model.counts import breaks_of
from depyf.model.index_reader import Run, changed_at, has_index, read_run
from depyf.model.modules import Module, folded, modules
from depyf.model.naming import title
from depyf.model.phases import PHASES, duration
from depyf.model.run import Compile, Function, Recompile
from depyf.model.running_compile import SLOW
from depyf.model.status import SIGNS, Status, status_of
from depyf.model.user_source import is_library_file
from depyf.views.compile_times import TimedRow, timed_rows
from depyf.views.html.breaks import Broken, GivenUp, Skipped, broken, failed, skipped
from depyf.views.html.chunks import as_json
from depyf.views.html.costs import costs_data
from depyf.views.html.finding_links import FindingLinks
from depyf.views.html.function_data import entry_key
from depyf.views.html.kernels import ChoiceRow, KernelRow, choice_rows, kernel_rows
from depyf.views.html.outside import NAME as OUTSIDE
from depyf.views.html.overview import Row, rows
from depyf.views.html.recompiles import Recompiled, recompiled
from depyf.views.html.times import TimeRow, time_rows

_FOLDER = re.compile(r"(rank|process)_(\d+)$")


@dataclass(slots=True)
class Count:
    """A number at the top of the page, with a noun and a symbol."""

    number: str
    what: str
    status: Status | None = None
    heading: str = ""
    """The noun without a number."""

    @property
    def sign(self) -> str:
        """Return the symbol of the number."""
        return SIGNS[self.status] if self.status is not None else ""


def _count(number: int, what: str, status: Status | None = None) -> Count:
    return Count(str(number), what if number == 1 else f"{what}s", status, f"{what}s")


@dataclass
class Process:
    """The run of a process: `key` is the prefix of its pages' names, `label` its name for readers."""

    key: str
    label: str
    run: Run
    addresses: dict[str, str] = field(default_factory=dict)
    """The pages of the root functions, by key."""
    folder: str = ""
    """The path of its files in the directory, with a slash at the end."""

    phases = PHASES

    @cached_property
    def outside(self) -> str:
        """Return the page of artefacts outside any compile, or ""."""
        return f"{self.key}outside" if any(artefact.file for artefact in self.run.session.loose) else ""

    @property
    def pages(self) -> list[tuple[str, str]]:
        """Return the address of each function's page, and its name."""
        pages = [(address, title(self.run.session.functions[key])) for key, address in self.addresses.items()]
        return [*pages, (self.outside, OUTSIDE)] if self.outside else pages

    @cached_property
    def rows(self) -> list[Row]:
        """Return the rows of the tree."""
        return rows(self.run, self.addresses)

    @cached_property
    def compiles(self) -> list[tuple[Function, Compile]]:
        """Return all compiles in order."""
        return list(self.run.session.compiles())

    @cached_property
    def counts(self) -> list[Count]:
        """Return the most important numbers."""
        compiles = [compiled for _, compiled in self.compiles]
        breaks = breaks_of(compiles)
        recompiles = sum(isinstance(compiled.trigger, Recompile) for compiled in compiles)
        failed = sum(status_of(compiled) is Status.FAILED for compiled in compiles)
        spent = sum(duration(compiled.seconds) for compiled in compiles)
        return [
            _count(len(self.addresses), "function"),
            _count(len(compiles), "compile", Status.COMPILED),
            _count(recompiles, "recompile", Status.RECOMPILED),
            Count(str(breaks.places), breaks.what, Status.BROKE, "graph breaks"),
            Count(str(len(self.skipped)), "skipped", Status.SKIPPED, "skipped"),
            Count(str(failed), "failed", Status.FAILED, "failed"),
            Count(f"{spent:.1f} s", "compiling", heading="compiling"),
        ]

    @cached_property
    def finding_links(self) -> FindingLinks:
        """Return the findings, with their addresses."""
        return FindingLinks(self.run, findings(self.run.session), self.addresses, f"{self.key}/breaks")

    @cached_property
    def kernels(self) -> list[KernelRow]:
        """Return the kernels that Inductor's modules call."""
        return kernel_rows(self.run, self.addresses)

    @property
    def choices(self) -> list[ChoiceRow]:
        """Return the choices between templates and libraries in a trace."""
        return choice_rows(self.run)

    @cached_property
    def times(self) -> list[TimeRow]:
        """Return the compile times."""
        return time_rows(self.run, self.addresses)

    @cached_property
    def timed(self) -> list[TimedRow]:
        """Return the functions and lines with their compile times, if these were measured."""
        times = read_times(self.run.directory)
        return timed_rows(times_json(times)) if times is not None and times.cells else []

    @property
    def stack(self) -> str:
        """Return the Python stack of a compile that took longer than the limit, or ""."""
        return self.run.text(SLOW)

    @cached_property
    def lines(self) -> list[FunctionLines]:
        """Return the states of the lines of each function that Dynamo read."""
        return line_states(self.run.session)

    @property
    def own_lines(self) -> list[FunctionLines]:
        """Return the lines of the user's own functions, starting with the smallest share in graphs."""
        users_lines = [line for line in self.lines if not is_library_file(line.filename)]
        return sorted(users_lines, key=lambda function_lines: function_lines.share)

    @property
    def library_lines(self) -> list[FunctionLines]:
        """Return the lines of library functions."""
        return [line for line in self.lines if is_library_file(line.filename)]

    @cached_property
    def modules(self) -> list[tuple[Function, list[Module]]]:
        """Return the functions that pass through modules, with these modules."""
        pairs = [(function, folded(modules(function))) for function in self.run.session.roots()]
        return [(function, inside) for function, inside in pairs if len(inside) > 1]

    @cached_property
    def unseen(self) -> list[str]:
        """Return the source files of which only the lines quoted in a trace are known."""
        return [missing for missing in self.run.session.unavailable if missing.startswith("source of ")]

    @cached_property
    def costs_json(self) -> str:
        """Return the data of the page of costs, or "" without a profile."""
        data = costs_data(self.run, self.addresses)
        return as_json(data) if data is not None else ""

    @cached_property
    def recompiled(self) -> list[Recompiled]:
        """Return the functions that were compiled more than once."""
        return recompiled(self.run, self.addresses)

    @cached_property
    def looks(self) -> list[tuple[Look, str]]:
        """Return every lookup in a cache of torch's, with the address of the compile's page."""
        return [(look, f"{self.addresses[look.function.root]}/{entry_key(look.compile)}") for look in looks(self.run)]

    @cached_property
    def broken(self) -> list[Broken]:
        """Return the places where graphs end."""
        return broken(self.run, self.addresses, [finding for finding, _ in self.finding_links.all()])

    @cached_property
    def failed(self) -> list[GivenUp]:
        """Return the compiles that Dynamo gave up."""
        return failed(self.run, self.addresses)

    @cached_property
    def skipped(self) -> list[Skipped]:
        """Return the frames that Dynamo skipped."""
        return skipped(self.run)


def processes(directory: Path, since: float) -> list[Process]:
    """Return every process that wrote an index into the directory or a folder of it, at `since` or later.

    Raises:
        ValueError: an index is not depyf's.
    """
    all_processes: list[Process] = []
    for folder in [directory, *sorted(directory.iterdir(), key=_order)] if directory.is_dir() else []:
        match = _FOLDER.search(folder.name)
        if (folder == directory or match is not None) and has_index(folder) and changed_at(folder) >= since:
            label = "program" if folder == directory or match is None else f"{match[1]} {match[2]}"
            process = _process(f"p{len(all_processes)}", label, read_run(folder))
            process.folder = "" if folder == directory else f"{folder.name}/"
            all_processes.append(process)
    return all_processes


def _order(folder: Path) -> tuple[str, int]:
    match = _FOLDER.search(folder.name)
    return (match[1], int(match[2])) if match is not None else ("", 0)


def _process(key: str, label: str, run: Run) -> Process:
    roots = run.session.roots()
    return Process(key, label, run, {root.key: f"{key}f{number}" for number, root in enumerate(roots)})
