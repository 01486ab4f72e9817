"""How the site is built: `make docs`. Nothing is loaded from a network, and every warning is an error."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from depyf import __version__  # noqa: E402

project = "depyf"
author = "the depyf authors"
copyright = "the depyf authors, MIT licence"  # noqa: A001 - Sphinx's name
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "depyf"
html_show_sourcelink = False
html_copy_source = False

myst_heading_anchors = 4
autodoc_typehints = "none"
autodoc_member_order = "bysource"
default_role = "code"
# Values that pickle cannot keep are no fault of a page.
suppress_warnings = ["config.cache"]


def _fields(app: object, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Make a list of fields of what our docstrings write as `name: text`, one below the other."""
    written_lines: list[str] = []
    for line in lines:
        if re.match(r"[a-z_]\w*: ", line):
            if written_lines and written_lines[-1] and not written_lines[-1].startswith((" ", ":")):
                written_lines.append("")
            line = f":{line}"
        written_lines.append(line)
    lines[:] = written_lines


def setup(app: Sphinx) -> None:
    """Add what is above."""
    app.connect("autodoc-process-docstring", _fields)
