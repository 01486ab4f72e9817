"""The test that `depyf fix --contract` writes."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")
pytest.importorskip("libcst", reason="depyf[fix] installs it")

import torch

from depyf import CompileContractError, prepare_debug
from depyf.fix.counts import Counts
from depyf.fix.gained import contract_test
from depyf.fix.tries import Outcome, Program
from depyf.model.index_reader import read_run

SCRIPT = """import torch


def f(x):
    return x * 2


torch._dynamo.reset()
step = torch.compile(f, backend="eager")
step(torch.ones(3))
"""


def test_the_written_test_passes_and_fails_if_a_break_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT, encoding="utf-8")
    with prepare_debug(tmp_path / "dump"):
        runpy.run_path(str(script), run_name="__main__")
    outcome = Outcome(0, b"", Counts(), None, run=read_run(tmp_path / "dump"))
    program = Program(str(script), ("--epochs", "1"), False, tmp_path, 50, False, 60.0)
    file = tmp_path / "tests" / "test_compiles.py"
    file.parent.mkdir()
    text = contract_test(program, outcome, file)
    assert "expect(graphs=1, breaks=0, recompiles=0, eager_calls=0)" in text and "['--epochs', '1']" in text
    file.write_text(text, encoding="utf-8")
    check = runpy.run_path(str(file))["test_train_compiles_as_before"]
    check(monkeypatch)
    script.write_text(SCRIPT.replace("    return", "    torch._dynamo.graph_break()\n    return"), encoding="utf-8")
    with pytest.raises(CompileContractError, match="1 graph break"):
        check(monkeypatch)
    with pytest.raises(ValueError, match="mark the test"):
        contract_test(replace(program, target="pytest", is_module=True), outcome, file)
    assert torch is not None


def test_a_module_reads_the_edited_text_in_the_copy_of_the_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    program = Program("train", (), True, Path("/copy/run"), 50, False, 60.0, kept=Path("/copy/kept"))
    texts = {str(tmp_path / "models" / "net.py"): "x = 1", "/elsewhere/lib.py": "x = 2"}
    assert program.served(texts) == {**texts, "/copy/run/models/net.py": "x = 1"}
    assert replace(program, is_module=False).served(texts) == texts
    assert replace(program, kept=None).served(texts) == texts
