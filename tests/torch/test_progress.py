"""The index of a run that goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import depyf  # noqa: E402 - after the check that torch is there
from depyf.torch.adapters import lacking  # noqa: E402
from depyf.torch.dump import progress  # noqa: E402
from tests.torch.needs import needs  # noqa: E402


def test_an_index_waits_for_its_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(progress.time, "process_time", lambda: 10.0)
    written = []

    def write() -> None:
        written.append(clock[0])
        clock[0] += 1

    kept = progress.Progress(write)
    kept.offer()
    assert written == []
    kept.changed()
    kept.changed()
    assert written == [100.0]
    clock[0] = 90 + 1 / progress.SHARE - 0.5
    kept.offer()
    assert written == [100.0]
    clock[0] += 1
    kept.offer()
    kept.offer()
    assert written == [100.0, 90.5 + 1 / progress.SHARE]


def test_an_index_is_there_while_the_program_runs(tmp_path: Path) -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    with depyf.prepare_debug(tmp_path, keep_index=True):
        torch.compile(f, backend="eager")(torch.ones(2))
        during = json.loads((tmp_path / "index.json").read_text(encoding="utf-8"))
    after = json.loads((tmp_path / "index.json").read_text(encoding="utf-8"))
    assert (during["ended"], after["ended"]) == (False, True)
    assert during["order"] == after["order"] == [during["functions"][0]["compiles"][0]["id"]]
    assert (tmp_path / after["functions"][0]["dump"]).exists()


@needs(lacking.structured_trace())
def test_entries_from_before_are_in_the_full_code_while_the_program_runs(tmp_path: Path) -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    compiled = torch.compile(f, backend="eager", dynamic=False)
    compiled(torch.ones(2))
    with depyf.prepare_debug(tmp_path, keep_index=True):
        compiled(torch.ones(3))
        (file,) = tmp_path.glob("full_code_for_*.py")
        during = file.read_text(encoding="utf-8")
    assert during == file.read_text(encoding="utf-8")
    assert during.count("\n@guard\n") == 2
