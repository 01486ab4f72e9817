"""The reports of real runs in a real browser: the toy example, a training step, and two ranks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.views.html.browsing import browser, visit
from tests.views.html.checking import check_links

torch = pytest.importorskip("torch", reason="the runs need torch")
pytest.importorskip("click", reason="the command line needs click")
pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def launched() -> Iterator[Any]:
    with browser() as chromium:
        yield chromium


def run(folder: Path, *target: str) -> Path:
    """Run a program under `depyf run`, and return the first page of its report."""
    command = [sys.executable, "-m", "depyf", "run", "-o", str(folder), *target]
    environment = {
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "TORCHINDUCTOR_CACHE_DIR": str(
            folder.with_name(f"{folder.name}-cache")
        ),  # what an earlier run kept has fewer stages
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
    }
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, timeout=500, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder / "report" / "index.html"


@pytest.mark.parametrize(
    ("example", "backend", "least"),
    [("toy_example", "inductor", 60), ("training_step", "aot_eager", 60)],
)
def test_an_example_is_linked_in_both_directions(
    launched: Any, tmp_path: Path, example: str, backend: str, least: int
) -> None:
    page = run(tmp_path, f"examples/{example}.py", backend)
    with visit(launched, page) as visited:
        assert check_links(visited, tmp_path) >= least
        for address in ("#recompiles", "#breaks", "#diff", "#overview"):
            visited.go(address)
        visited.check()


@pytest.mark.skipif(not torch.distributed.is_available(), reason="this torch has no distributed part")
def test_two_ranks_are_beside_each_other_with_their_difference(launched: Any, tmp_path: Path) -> None:
    job = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "examples/two_ranks.py")
    page = run(tmp_path / "out", *job)
    with visit(launched, page, "ranks") as visited:
        text = visited.page.inner_text(".page.ranks")
        assert "rank 0" in text and "rank 1" in text and "graph breaks in step" in text
        for number in (0, 1):
            visited.go(f"#p{number}/overview")
            assert visited.page.locator(f"#p{number}-overview .tree").is_visible()
            assert check_links(visited, tmp_path / "out" / f"rank_{number}", f"p{number}") >= 50
        visited.check()
