"""Takes the picture of a notebook that the documentation shows: runs examples/notebook.ipynb and opens it as a page.

    python -m scripts.notebook_screenshot [--out docs/images/notebook.png] [--browser /usr/bin/chromium]
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOK = ROOT / "examples" / "notebook.ipynb"
WIDTH, HEIGHT = 1250, 1010


def as_page(folder: Path) -> Path:
    """Run the notebook in a folder, and return it as a page there."""
    import nbformat
    from nbclient import NotebookClient
    from nbconvert import HTMLExporter

    # What Inductor kept of a notebook before this one has that one's places, and is not linked.
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(folder / "cache")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()
    text, _ = HTMLExporter(require_js_url="", mathjax_url="", jquery_url="").from_notebook_node(notebook)
    path = folder / "notebook.html"
    path.write_text(text, encoding="utf-8")
    return path


def main() -> None:
    """Take it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images" / "notebook.png")
    parser.add_argument("--browser", default=shutil.which("chromium"))
    arguments = parser.parse_args()
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        path = as_page(Path(folder))
        launched = started.chromium.launch(executable_path=arguments.browser, args=["--no-sandbox"])
        page = launched.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(path.as_uri())
        frame = page.frames[1]
        frame.wait_for_function("() => document.documentElement.dataset.shown !== undefined")
        frame.click("text=captured graph")
        frame.click(".pane.source .ln >> nth=1")
        page.screenshot(path=str(arguments.out))
        launched.close()


if __name__ == "__main__":
    main()
