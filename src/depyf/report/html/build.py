"""Builds the report of a dump."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

import jinja2
import markupsafe

from depyf.report.html.chunks import Chunks, as_json
from depyf.report.html.function_data import function_data
from depyf.report.html.process import Process, processes
from depyf.report.html.ranks import apart
from depyf.report.job_index import JobIndex, read_job
from depyf.report.naming import title
from depyf.report.writer import write_whole
from depyf.version import __version__

FOLDER = "report"
PAGE = "index.html"
STYLES = ("base.css", "overview.css", "tables.css", "function.css", "tools.css", "costs.css")
SCRIPTS = (
    *("base.js", "lexer.js", "code.js", "marks.js", "function.js", "overview.js", "costs.js"),
    *("differ.js", "diff.js", "search.js", "keys.js", "route.js"),
)


@dataclass(slots=True)
class Report:
    """A report that was built: its page, and how many bytes it has in how many files."""

    page: Path
    size: int
    files: int


@dataclass(slots=True)
class Content:
    """What a report has to tell: the processes of a run, and the data of their functions' pages."""

    processes: list[Process]
    chunks: Chunks = field(default_factory=Chunks)
    job: JobIndex | None = None
    """The ranks of the traces that the run was read from; some of them stand for many."""


def content_of(found: list[Process]) -> Content:
    """Return processes with the data of all their functions."""
    content = Content(found)
    for process in found:
        run = process.run
        families = run.families()
        for key, address in process.addresses.items():
            function_data(run, run.session.functions[key], families[key], content.chunks, address, process.lines)
    return content


def build_report(directory: Path, *, single_file: bool = False, since: float = 0.0) -> Report:
    """Write the report of the dump in `directory` into a folder of it; in one file, if `single_file` is set.

    What was dumped before `since` (seconds since the epoch) is left out.

    Raises:
        FileNotFoundError: there is no dump in the directory.
        ValueError: what is there is none of depyf's.
        OSError: a file cannot be written.
    """
    found = processes(directory, since)
    if not found:
        raise FileNotFoundError(f"there is no index.json in {directory}, nor in a folder of a rank or a process there")
    content = content_of(found)
    content.job = read_job(directory)
    if content.job is not None:
        for process in found:
            process.label = content.job.label_of(process.folder.rstrip("/")) or process.label
    folder = directory / FOLDER
    home = "ranks" if content.job is not None else ""
    text = page_text(content, inlined=content.chunks.texts if single_file else {}, home=home)
    if not single_file:
        content.chunks.write(folder)
    write_whole(folder / PAGE, text)
    sizes = [len(text), *(len(each) for each in content.chunks.texts.values() if not single_file)]
    return Report(folder / PAGE, sum(sizes), len(sizes))


def page_text(content: Content, inlined: dict[str, str], *, home: str = "", base: str = "") -> str:
    """Return the page of a report.

    inlined: the data that stands in the page itself.
    home: the address that is shown first, the overview if empty.
    base: what its links are relative to, its own place if empty.
    """
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["seconds"] = seconds_words
    environment.filters["code"] = code_marked
    scripts = "\n".join(_asset(name) for name in SCRIPTS)
    return environment.get_template("page.html").render(
        version=__version__,
        processes=content.processes,
        job=content.job,
        apart=apart(content.processes) if len(content.processes) > 1 else [],
        inlined=inlined,
        directory=_directory(content),
        styles="\n".join(_asset(name) for name in STYLES),
        scripts=scripts,
        digest=base64.b64encode(hashlib.sha256(scripts.encode()).digest()).decode(),
        home=home,
        base=base,
    )


def _directory(content: Content) -> str:
    """Return what the page's scripts have to know at once: the functions of each process and their pages."""
    return as_json(
        [
            {
                "key": process.key,
                "label": process.label,
                "functions": [
                    {"page": address, "name": title(process.run.session.functions[key])}
                    for key, address in process.addresses.items()
                ],
            }
            for process in content.processes
        ]
    )


def _asset(name: str) -> str:
    return resources.files("depyf.report.html").joinpath("assets", name).read_text(encoding="utf-8")


def code_marked(text: str) -> markupsafe.Markup:
    """Return a text with what stands between backticks as code; all of it is escaped.

    >>> code_marked("use `a < b`")
    Markup('use <code class="inline">a &lt; b</code>')
    """
    parts = text.split("`")
    pieces = [
        markupsafe.Markup('<code class="inline">{}</code>').format(part)
        if index % 2 and index < len(parts) - 1
        else markupsafe.escape(part if index % 2 == 0 else f"`{part}")
        for index, part in enumerate(parts)
    ]
    return markupsafe.Markup("").join(pieces)


def seconds_words(value: float) -> str:
    """Return a duration for a reader.

    >>> seconds_words(12.34), seconds_words(0.0042), seconds_words(0)
    ('12.3 s', '4 ms', '')
    """
    if not value:
        return ""
    return f"{value:.1f} s" if value >= 1 else f"{1000 * value:.0f} ms" if value >= 0.001 else "<1 ms"
