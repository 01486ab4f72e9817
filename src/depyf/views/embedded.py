"""A run as a notebook cell shows it: its report in a frame, and a few lines of text.

The frame holds the whole page and may run only the page's own scripts. It has no origin, so names and strings of the
program cannot reach the notebook.
"""

from __future__ import annotations

import html
import importlib.util
from dataclasses import replace
from pathlib import Path

from depyf.model.index_reader import Run, read_run
from depyf.model.run import Function
from depyf.model.writer import INDEX

HEIGHT = 620
"""The height of the frame, in pixels."""
LARGEST = 12_000_000
"""The most characters of a page that are stored in a notebook. For a larger page the cell names the file."""

_BASE = "about:srcdoc"
"""The base of the page's links. Without it they would lead into the notebook."""


def bundle(text: str, run: Run | None, caption: str = "") -> dict[str, str]:
    """Return the content that a notebook or a terminal shows of a run, by MIME type.

    text: the text for a terminal.
    run: the run to show in the frame, or None if there is nothing to show yet.
    caption: a line below the frame.
    """
    if run is None or importlib.util.find_spec("jinja2") is None:
        return {"text/plain": text}
    return {"text/plain": text, "text/html": frame(run, caption)}


def bundle_of_capture(directory: Path, text: str, ended: bool) -> dict[str, str]:
    """Return the content for a capture: the report of its files after its context has ended.

    Args:
        directory: the dump of the capture.
        text: the plain text that is shown where HTML is not.
        ended: whether the context has ended.
    """
    run = read_run(directory) if ended and (directory / INDEX).is_file() else None
    return bundle(text, run, text.partition("\n")[0])


def frame(run: Run, caption: str = "") -> str:
    """Return the report of a run as an HTML element: the page of its function if it has only one."""
    from depyf.views.html.build import content_of, page_text
    from depyf.views.html.process import Process

    roots = run.session.roots()
    process = Process("p0", "program", run, {root.key: f"p0f{number}" for number, root in enumerate(roots)})
    content = content_of([process])
    page = page_text(content, content.chunks.texts, home="p0f0" if len(roots) == 1 else "", base=_BASE)
    below = f'<p style="margin:2px 0;font-size:85%;opacity:.75">{html.escape(caption)}</p>' if caption else ""
    if len(page) > LARGEST:
        return f"<p>The report has {len(page) / 1e6:.0f} MB, which is too large for a cell.</p>{below}"
    name = html.escape(roots[0].name if len(roots) == 1 else "report", quote=True)
    style = f"width:100%;height:{HEIGHT}px;border:1px solid rgba(128,128,128,.4);border-radius:4px"
    return (
        f'<iframe class="depyf" title="depyf: {name}" sandbox="allow-scripts" style="{style}" '
        f'srcdoc="{html.escape(page, quote=True)}"></iframe>{below}'
    )


def only(run: Run, root: Function) -> Run:
    """Return the part of a run that concerns one function and its resume functions."""
    kept = {key: function for key, function in run.session.functions.items() if function.root == root.key}
    return replace(run, session=replace(run.session, functions=kept, skipped={}, earlier={}, loose=[]))
