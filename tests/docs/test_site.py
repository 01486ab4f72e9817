"""The site is built without a warning."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="the site is built with Sphinx")
pytest.importorskip("myst_parser", reason="the site is built with MyST")
pytest.importorskip("furo", reason="the site has Furo's theme")
pytest.importorskip("torch", reason="the reference is of the torch part, too")

ROOT = Path(__file__).resolve().parents[2]


def test_the_site_is_built_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    page = (tmp_path / "getting-started.html").read_text(encoding="utf-8")
    assert "__compiled_fn_1" in page
    assert not [part for part in page.split('src="')[1:] if part.startswith("http")]
    assert "Write everything that torch compiles inside the context" in (tmp_path / "api.html").read_text("utf-8")
    # The search of the site looks for the question among the headings first.
    index = (tmp_path / "searchindex.js").read_text(encoding="utf-8")
    titles = json.loads(index[index.index("{") : index.rindex("}") + 1])["alltitles"]
    assert any("why does my model recompile" in title.lower() for title in titles)
