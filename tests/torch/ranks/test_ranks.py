"""Several processes of one job: a directory for each rank, and a page that says where they differ."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

from depyf.torch.dump.rank import rank_directory  # noqa: E402 - after the check that torch is there

JOB = Path(__file__).with_name("job.py")


@pytest.mark.skipif(not torch.distributed.is_available(), reason="this torch has no distributed part")
def test_two_processes_write_beside_each_other(tmp_path: Path) -> None:
    command = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(JOB), str(tmp_path)]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    for rank in range(2):
        assert (tmp_path / f"rank_{rank}" / "__transformed_code_0_for_same.py").exists()
        assert (tmp_path / f"rank_{rank}" / "index.json").exists()
    page = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert "| [0](rank_0/index.md) | 2 | 2 | 0 | 0 | 0 | 0 |" in page
    assert "| [1](rank_1/index.md) | 3 | 2 | 1 | 0 | 0 | 0 |" in page
    differences = page.split("## Where ranks differ")[1]
    assert "graph breaks in differs" in differences
    assert "same" not in differences


def test_a_directory_for_each_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RANK", raising=False)
    assert rank_directory("dump") == (Path("dump"), None)
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert rank_directory("dump") == (Path("dump"), None)
    monkeypatch.setenv("WORLD_SIZE", "12")
    assert rank_directory("dump") == (Path("dump/rank_1"), Path("dump"))
    assert rank_directory("dump/rank_10") == (Path("dump/rank_10/rank_1"), Path("dump/rank_10"))
    for named in ("dump/rank_1", "dump/rank1/debug", "dump/RANK-01"):
        assert rank_directory(named) == (Path(named), None)
