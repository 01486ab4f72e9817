"""A run as a notebook shows it in a cell: its report in a frame of its own, and the same in a few lines of text.

The frame holds the whole page and may run nothing but the page's own scripts: it is of no origin, so that whatever
names and strings of the program hold reaches nothing of the notebook.
"""

from __future__ import annotations

import html
import importlib.util
from dataclasses import replace
from pathlib import Path

from depyf.report.index_reader import Run, read_run
from depyf.report.model import Function
from depyf.report.writer import INDEX

HEIGHT = 620
"""Of the frame, in pixels."""
LARGEST = 12_000_000
"""Characters of a page that a notebook is still to keep; of a larger one it says where it is."""

_BASE = "about:srcdoc"
"""What the page's links are relative to: without it they lead into the notebook."""


def bundle(text: str, run: Run | None, caption: str = "") -> dict[str, str]:
    """Return what a notebook or a terminal shows of a run, by the type of the text.

    text: what a terminal shows.
    run: what the frame shows; None where there is nothing to show yet.
    caption: a line below the frame.
    """
    if run is None or importlib.util.find_spec("jinja2") is None:
        return {"text/plain": text}
    return {"text/plain": text, "text/html": frame(run, caption)}


def bundle_of_capture(directory: Path, text: str, ended: bool) -> dict[str, str]:
    """Return what is shown of a capture: the report of its files, once its context has ended."""
    run = read_run(directory) if ended and (directory / INDEX).is_file() else None
    return bundle(text, run, text.partition("\n")[0])


def frame(run: Run, caption: str = "") -> str:
    """Return the report of a run as an element of a notebook: the page of its function where it has one alone."""
    from depyf.report.html.build import content_of, page_text
    from depyf.report.html.process import Process

    roots = run.session.roots()
    process = Process("p0", "program", run, {each.key: f"p0f{number}" for number, each in enumerate(roots)})
    content = content_of([process])
    page = page_text(content, content.chunks.texts, home="p0f0" if len(roots) == 1 else "", base=_BASE)
    below = f'<p style="margin:2px 0;font-size:85%;opacity:.75">{html.escape(caption)}</p>' if caption else ""
    if len(page) > LARGEST:
        return f"<p>The report has {len(page) / 1e6:.0f} MB: too much for a cell.</p>{below}"
    name = html.escape(roots[0].name if len(roots) == 1 else "report", quote=True)
    style = f"width:100%;height:{HEIGHT}px;border:1px solid rgba(128,128,128,.4);border-radius:4px"
    return (
        f'<iframe class="depyf" title="depyf: {name}" sandbox="allow-scripts" style="{style}" '
        f'srcdoc="{html.escape(page, quote=True)}"></iframe>{below}'
    )


def only(run: Run, root: Function) -> Run:
    """Return the part of a run that tells of one function and of what resumes it."""
    kept = {key: each for key, each in run.session.functions.items() if each.root == root.key}
    return replace(run, session=replace(run.session, functions=kept, skipped={}, earlier={}, loose=[]))
