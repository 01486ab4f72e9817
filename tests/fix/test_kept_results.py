"""`python -m benchmarks.fix --results FILE` goes on where it was ended."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")
pytest.importorskip("libcst", reason="depyf[fix] installs it")

from benchmarks.fix import CORPUS, Judged, Kept


def test_a_program_is_judged_once_for_a_commit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, program = tmp_path / "results.jsonl", CORPUS / "printed.py"
    judged = Judged("printed", remaining=["break-print"], told={"effect": "2 -> 1 breaks"})
    assert Kept(file)(program, lambda: judged) == judged
    assert capsys.readouterr().out == "printed: 2 -> 1 breaks; remains: break-print\n"
    assert Kept(file)(program, lambda: pytest.fail("it is judged again")) == judged
    other = file.read_text().replace('"commit": "', '"commit": "other')
    file.write_text(other)
    assert not Kept(file)(program, lambda: Judged("printed")).remaining
    assert len(file.read_text().splitlines()) == 2
