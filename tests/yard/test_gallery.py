"""The gallery: every program is there, those that are run leave a report, and the page leads to it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.gallery import NAMES, PROGRAMS, Exhibit, about, page
from tests.views.html.browsing import browser, visit

ROOT = Path(__file__).resolve().parents[2]


def test_the_ten_programs_are_there_and_say_what_they_are() -> None:
    assert len(NAMES) == 10
    assert sorted(path.stem for path in PROGRAMS.glob("*.py")) == sorted(NAMES)
    descriptions = [about(name) for name in NAMES]
    assert all(descriptions) and len(set(descriptions)) == 10


@pytest.mark.parametrize("name", NAMES)
def test_a_program_loads_no_weights(name: str) -> None:
    tree = ast.parse((PROGRAMS / f"{name}.py").read_text(encoding="utf-8"))
    called = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert "from_pretrained" not in called


def test_the_page_escapes_what_programs_say() -> None:
    html_page = page([Exhibit("toy", "a < b & c", "toy", ("1 compile",), 2.0)])
    assert "a &lt; b &amp; c" in html_page
    assert 'href="toy/report/index.html"' in html_page


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Build two of the reports; return their folder and what was printed."""
    pytest.importorskip("torch", reason="the programs compile models")
    pytest.importorskip("transformers", reason="BERT is of transformers")
    out = tmp_path_factory.mktemp("gallery")
    command = [sys.executable, "-m", "scripts.gallery", "--out", str(out), "--backend", "aot_eager"]
    done = subprocess.run([*command, "bert", "everything_wrong"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out, done.stdout


@pytest.mark.slow
def test_two_programs_leave_their_reports(built: tuple[Path, str]) -> None:
    out, printed = built
    assert "bert: 1 function, 1 compile" in printed
    assert "4 graph breaks" in printed
    leads = (out / "index.html").read_text(encoding="utf-8")
    for name in ("bert", "everything_wrong"):
        assert f"{name}/report/index.html" in leads
    assert "BertModel" in (out / "bert" / "report" / "index.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_reports_open_in_a_browser(built: tuple[Path, str]) -> None:
    out, _ = built
    with browser() as launched:
        with visit(launched, out / "bert" / "report" / "index.html", "p0f0/c0/captured_graph") as visited:
            assert visited.page.inner_text(".fnhead h1") == "BertModel.forward"
            assert "BertEmbeddings.forward" in visited.page.locator(".blockhead").nth(1).inner_text()
            visited.check()
        with visit(launched, out / "everything_wrong" / "report" / "index.html", "recompiles") as visited:
            assert "and pass the result as a tensor" in visited.page.inner_text("#p0-recompiles")
            visited.go("#breaks")
            visited.check()


def test_a_name_that_is_none_is_refused() -> None:
    command = [sys.executable, "-m", "scripts.gallery", "nothing"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no program nothing" in done.stderr
