"""`depyf kernel`: write one kernel of a run to a file that runs on any machine."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import click

from depyf.bytecode.records import dataclass
from depyf.cli.exit_codes import EXIT_FAILED, EXIT_USAGE
from depyf.links.documents import KernelSource, kernel_sources
from depyf.links.inductor.graph import read_graph
from depyf.links.inductor.line import Launched
from depyf.links.inductor.lines import origins_of_lines
from depyf.links.inductor.module import read_module
from depyf.links.inductor.suspects import suspect
from depyf.links.of_line import is_same_file
from depyf.links.origins import joined
from depyf.model.index_reader import Run
from depyf.model.naming import title
from depyf.torch.kernels.standalone import NotAlone, Told, standalone
from depyf.trace.job.files import TraceError, find, is_dump
from depyf.trace.job.reporting import Options, dump_jobs
from depyf.views.html.process import processes

_PLACE = re.compile(r"(?P<file>.+):(?P<line>\d+)$")


@dataclass(frozen=True, slots=True)
class Found:
    """A launch of a kernel and the process, compile and graph it belongs to."""

    run: Run
    function: str
    compile: str
    source: KernelSource
    launched: Launched


@click.command("kernel", short_help="Write one kernel of a run to a file that runs alone.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The file to write; NAME.py by default.")
@click.option("--launch", "number", default=0, show_default=True, help="Choose a launch, if there are several.")
@click.option("--run", "is_run", is_flag=True, help="Also run the file.")
@click.option("--pdb", "is_debugged", is_flag=True, help="Run the file under pdb and stop at the kernel's first line.")
@click.option("--at", metavar="FILE:LINE", help="With --pdb: stop at the lines that compute this line of your program.")
@click.argument("dump", metavar="DUMP", type=click.Path(path_type=Path))
@click.argument("name", metavar="[NAME]", required=False)
def kernel(
    output: Path | None,
    number: int,
    is_run: bool,
    is_debugged: bool,
    at: str | None,
    dump: Path,
    name: str | None,
) -> None:
    """Write one kernel of a run to a file of its own. Without NAME, list the kernels.

    With FILE:LINE instead of NAME, list the kernels that compute this line of your program. DUMP is the directory of a
    dump, or a trace: a file that TORCH_TRACE wrote, or a folder of them. The file contains the kernel, its inputs, the
    launch, and a check against the graph's nodes, run eagerly. It needs torch, and triton for a Triton kernel, but not
    depyf. Without a GPU, a Triton kernel runs in Triton's interpreter, line by line.

    Exit code 0; 1 if the kernel cannot be written, or if it was run and its values differ from the nodes' values; 2 if
    there is no such dump or kernel.
    """
    with tempfile.TemporaryDirectory() as folder:
        launches = list(_found(dump, Path(folder)))
    place = _PLACE.match(name) if name is not None else None
    if name is None or place is not None:
        listed = [
            launch for launch in launches if place is None or _computes(launch, place["file"], int(place["line"]))
        ]
        for unique in dict.fromkeys(f"{launch.launched.kernel.name}  {_origin(launch)}" for launch in listed):
            click.echo(unique)
        if place is not None and not listed:
            _end(f"no kernel with a text of its own computes {name}; depyf show {dump} --line {name}", EXIT_USAGE)
        return
    chosen = _chosen(launches, name, number, dump)
    # A debugger would resolve a relative path as a module.
    path, places = (output or Path(f"{name}.py")).absolute(), _places(chosen)
    _write(path, chosen, places)
    click.echo(str(path))
    if is_debugged:
        sys.exit(subprocess.call([sys.executable, "-m", "pdb", *_commands(path, chosen, places, at), str(path)]))
    if is_run:
        code = subprocess.call([sys.executable, str(path)])
        if code:
            _suspected(chosen)
        sys.exit(code)


def _computes(launch: Found, file: str, line: int) -> bool:
    """Return whether a kernel computes a line of a file, named by its path or the end of it."""
    origins = joined(origins_of_lines([launch.launched], launch.source.nodes).values())
    return any(origin[1] == line and is_same_file(origin[0], file) for origin in origins)


def _suspected(launch: Found) -> None:
    """Print the first line of a wrong kernel that computes no node."""
    graph = read_graph(launch.source.graph.text if launch.source.graph is not None else "")
    first = suspect(launch.launched, graph)
    if first is None:
        return
    row = launch.launched.kernel.text.splitlines()[first.line.statement.line - 1].strip()
    places = [f"{file.rpartition('/')[2]}:{line}" for file, line in sorted(launch.source.nodes.get(first.node, ()))]
    node = f"; its operands are those of {', '.join([first.node, *places])}" if first.node else ""
    click.echo(f"depyf kernel: the first line that computes no node: {row}{node}", err=True)


def _chosen(launches: list[Found], name: str, number: int, dump: Path) -> Found:
    named = [launch for launch in launches if launch.launched.kernel.name == name]
    if number >= len(named):
        known = ", ".join(dict.fromkeys(launch.launched.kernel.name for launch in launches))
        what = f"launch {number} of kernel" if named else "kernel"
        _end(f"there is no {what} {name!r} in {dump}; there is: {known or 'none'}", EXIT_USAGE)
    return named[number]


def _end(message: str, code: int) -> NoReturn:
    click.echo(f"depyf kernel: {message}", err=True)
    sys.exit(code)


def _found(dump: Path, folder: Path) -> Iterator[Found]:
    """Yield every launch of a kernel in a dump or a trace."""
    if not dump.exists():
        _end(f"there is no {dump}", EXIT_USAGE)
    try:
        dumped = [] if is_dump(str(dump)) else dump_jobs(find((str(dump),)), folder, Options())
        for directory in [job.directory for job in dumped] or [dump]:
            for process in processes(directory, 0.0):
                yield from _launches(process.run)
    except (FileNotFoundError, TraceError) as error:
        _end(str(error), EXIT_USAGE)
    except (OSError, ValueError) as error:
        _end(str(error), EXIT_FAILED)


def _launches(run: Run) -> Iterator[Found]:
    for function, compiled in run.session.compiles():
        for source in kernel_sources(run, compiled):
            for launched in source.launched():
                yield Found(run, title(function), str(compiled.id), source, launched)


def _origin(launch: Found) -> str:
    part = f", {launch.source.part}" if launch.source.part else ""
    return f"compile {launch.compile} of {launch.function}{part}"


def _places(launch: Found) -> dict[int, str]:
    """Return the user's lines and the nodes, by the line of the kernel's text."""
    nodes, kernel_ = launch.source.nodes, launch.launched.kernel
    origins = origins_of_lines([launch.launched], nodes)
    comments = {}
    for line in launch.launched.lines:
        places = sorted(origins.get(kernel_.first + line.statement.line - 1, ()))
        where = [f"{file.rpartition('/')[2]}:{number}" for file, number in places]
        if where or line.nodes:
            comments[line.statement.line] = ", ".join([*line.nodes, *where])
    return comments


def _write(path: Path, launch: Found, places: dict[int, str]) -> None:
    graph = read_graph(launch.source.graph.text if launch.source.graph is not None else "")
    try:
        text = standalone(launch.launched, read_module(launch.source.text), graph, Told(_origin(launch), places))
        path.write_text(text, encoding="utf-8")
    except (NotAlone, OSError) as error:
        _end(str(error), EXIT_FAILED)


def _commands(path: Path, launch: Found, places: dict[int, str], at: str | None) -> Iterator[str]:
    """Yield the pdb commands that stop in the kernel: at its first line for a node, or at those for a place."""
    place = _PLACE.match(at) if at is not None else None
    if at is not None and place is None:
        _end(f"--at needs FILE:LINE, not {at!r}", EXIT_USAGE)
    short = f"{place['file'].rpartition('/')[2]}:{place['line']}" if place is not None else ""
    wanted = [line for line, comment in sorted(places.items()) if short in comment.split(", ") or place is None]
    if launch.launched.kernel.language != "triton":
        _end("--pdb works only with Triton kernels: a C++ kernel runs no Python", EXIT_USAGE)
    if not wanted:
        _end(f"no line of {launch.launched.kernel.name} computes {at}", EXIT_USAGE)
    rows = path.read_text(encoding="utf-8").splitlines()
    begin = next(number for number, row in enumerate(rows, start=1) if row.startswith("@triton_heuristics."))
    rows_of_kernel = launch.launched.kernel.text.splitlines()
    first = next(number for number, row in enumerate(rows_of_kernel, start=1) if row.startswith("@triton_heuristics."))
    for line in wanted if place is not None else wanted[:1]:
        yield from ("-c", f"break {path}:{begin + line - first}")
    yield from ("-c", "continue")
