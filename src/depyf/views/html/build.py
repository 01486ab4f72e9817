"""Build the report of a dump."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path

import markupsafe

from depyf.bytecode.host import pausing
from depyf.bytecode.records import dataclass
from depyf.model.job_index import JobIndex, read_job
from depyf.model.naming import title
from depyf.model.spelling import spelled
from depyf.model.writer import write_whole
from depyf.version import __version__
from depyf.views.html.chunks import Chunks, as_json
from depyf.views.html.function_data import function_data
from depyf.views.html.outside import outside_data
from depyf.views.html.process import Process, processes
from depyf.views.html.ranks import apart
from depyf.views.html.templates import asset, environment

FOLDER = "report"
PAGE = "index.html"
STYLES = ("base.css", "overview.css", "tables.css", "function.css", "tools.css", "costs.css")
SCRIPTS = (
    *("base.js", "lexer.js", "code.js", "marks.js", "function.js", "overview.js", "costs.js"),
    *("differ.js", "diff.js", "search.js", "keys.js", "editor.js", "route.js"),
)


@dataclass(slots=True)
class Report:
    """A report that was built: its page, its number of files, and its size in bytes."""

    page: Path
    size: int
    files: int


@dataclass(slots=True)
class Content:
    """The content of a report: the processes of a run, and the data of their functions' pages."""

    processes: list[Process]
    chunks: Chunks = field(default_factory=Chunks)
    job: JobIndex | None = None
    """The ranks of the traces from which the run was read. One may stand for many."""


def content_of(all_processes: list[Process], folder: Path | None = None) -> Content:
    """Return processes with the data of all their functions. If a folder is given, the data is written into it.

    Raises:
        OSError: the folder cannot be written.
    """
    content = Content(all_processes, Chunks(folder))
    for process in all_processes:
        run = process.run
        families = run.families()
        for key, address in process.addresses.items():
            named = process.finding_links.lines(key)
            function_data(run, run.session.functions[key], families[key], content.chunks, address, process.lines, named)
        if process.outside:
            outside_data(run, content.chunks, process.outside)
    return content


@pausing
def build_report(
    directory: Path, *, single_file: bool = False, since: float = 0.0, output: Path | None = None
) -> Report:
    """Write the report of the dump in `directory` into a folder of it, or into one file if `single_file` is set.

    Dumps before `since` (seconds since the epoch) are left out. With `output`, the report goes there.

    Raises:
        FileNotFoundError: the directory has no dump.
        ValueError: the index is not depyf's.
        OSError: a file cannot be written.
    """
    all_processes = processes(directory, since)
    if not all_processes:
        raise FileNotFoundError(f"there is no index.json in {directory} or in its folders of ranks and processes")
    folder = (output or directory) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    content = content_of(all_processes, None if single_file else folder)
    content.job = read_job(directory)
    if content.job is not None:
        for process in all_processes:
            process.label = content.job.label_of(process.folder.rstrip("/")) or process.label
    page = folder / PAGE
    write_whole(page, _page(content, content.chunks.texts, home="ranks" if content.job is not None else ""))
    return Report(page, page.stat().st_size + content.chunks.size, 1 + content.chunks.files)


def page_text(content: Content, inlined: dict[str, str], *, home: str = "", base: str = "") -> str:
    """Return the page of a report.

    Args:
        content: the processes and their data.
        inlined: the data that is embedded in the page.
        home: the address that is shown first; "" for the overview.
        base: the base of its links; "" for its own place.
    """
    return "".join(_page(content, inlined, home=home, base=base))


def _page(content: Content, inlined: dict[str, str], *, home: str = "", base: str = "") -> Iterator[str]:
    """Yield the text of a page piece by piece, because that of 10,000 compiles has 30 MB."""
    maker = environment()
    maker.filters["seconds"] = seconds_words
    maker.filters["title_of"] = title
    maker.filters["code"] = code_marked
    maker.filters["spelled"] = spelled
    scripts = "\n".join(asset(name) for name in SCRIPTS)
    return maker.get_template("page.html").generate(
        version=__version__,
        processes=content.processes,
        job=content.job,
        apart=apart(content.processes) if len(content.processes) > 1 else [],
        inlined=inlined,
        directory=_directory(content),
        styles="\n".join(asset(name) for name in STYLES),
        scripts=scripts,
        digest=base64.b64encode(hashlib.sha256(scripts.encode()).digest()).decode(),
        home=home,
        base=base,
    )


def _directory(content: Content) -> str:
    """Return the data that the page's scripts need at the start: the functions of each process and their pages."""
    return as_json(
        [
            {
                "key": process.key,
                "label": process.label,
                "functions": [{"page": address, "name": name} for address, name in process.pages],
                "paths": {file: path for path, file in process.run.names.items()},
            }
            for process in content.processes
        ]
    )


def code_marked(text: str) -> markupsafe.Markup:
    """Return a text, escaped, with the parts between backticks as code.

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
