"""`depyf doctor`: it says what is there, and fails when something is wrong."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from depyf.cli.commands import depyf
from depyf.cli.exit_codes import EXIT_DONE, EXIT_FAILED

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")


def test_all_is_well() -> None:
    done = CliRunner().invoke(depyf, ["doctor"])
    assert done.exit_code == EXIT_DONE, done.output
    assert f"torch {torch.__version__}" in done.stdout
    assert "captured and proven, and its guards agree" in done.stdout


def test_what_is_wrong_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object, **options: object) -> None:
        raise RuntimeError("seeded")

    monkeypatch.setattr("depyf.decompiler.function.decompile_function", broken)
    done = CliRunner().invoke(depyf, ["doctor"])
    assert done.exit_code == EXIT_FAILED
    assert "seeded" in done.stderr
