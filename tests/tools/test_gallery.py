"""The gallery: every program is there, those that are run leave a report, and the page leads to it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tools.gallery import NAMES, PROGRAMS, Exhibit, about, page

ROOT = Path(__file__).resolve().parents[2]


def test_the_ten_programs_are_there_and_say_what_they_are() -> None:
    assert len(NAMES) == 10
    assert sorted(each.stem for each in PROGRAMS.glob("*.py")) == sorted(NAMES)
    told = [about(name) for name in NAMES]
    assert all(told) and len(set(told)) == 10


@pytest.mark.parametrize("name", NAMES)
def test_a_program_loads_no_weights(name: str) -> None:
    tree = ast.parse((PROGRAMS / f"{name}.py").read_text(encoding="utf-8"))
    called = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert "from_pretrained" not in called


def test_the_page_escapes_what_programs_say() -> None:
    made = page([Exhibit("toy", "a < b & c", "toy", ("1 compile",), 2.0)])
    assert "a &lt; b &amp; c" in made
    assert 'href="toy/report/index.html"' in made


@pytest.mark.slow
def test_two_programs_leave_their_reports(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the programs compile models")
    pytest.importorskip("transformers", reason="BERT is of transformers")
    command = [sys.executable, "-m", "tools.gallery", "--out", str(tmp_path), "--backend", "aot_eager"]
    done = subprocess.run([*command, "bert", "everything_wrong"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "bert: 1 function, 1 compile" in done.stdout
    assert "4 graph breaks" in done.stdout
    leads = (tmp_path / "index.html").read_text(encoding="utf-8")
    for name in ("bert", "everything_wrong"):
        assert f"{name}/report/index.html" in leads
        assert (tmp_path / name / "report" / "index.html").is_file()
    assert "BertModel" in (tmp_path / "bert" / "report" / "index.html").read_text(encoding="utf-8")


def test_a_name_that_is_none_is_refused() -> None:
    command = [sys.executable, "-m", "tools.gallery", "nothing"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no program nothing" in done.stderr
