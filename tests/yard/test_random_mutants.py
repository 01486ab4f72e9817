"""The tool that runs what the verifier accepts: it finds no hole in a few mutants, and would find one."""

from __future__ import annotations

import sys

import pytest

from depyf.verify import bisimulate
from tests.quality import random_mutants


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Return the exit status of the tool."""
    monkeypatch.setattr(sys, "argv", ["random_mutants", *arguments])
    return random_mutants.main()


def test_a_few_mutants_are_killed_or_run_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "--seed", "3", "--mutants", "60") == 0
    said = capsys.readouterr().out
    assert "killed" in said and "DIFFERENT" not in said


def test_a_hole_is_found_by_running_what_was_accepted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bisimulate, "relate", lambda *arguments: None)
    assert run(monkeypatch, "--seed", "3", "--mutants", "60") == 1
    assert "DIFFERENT: seed" in capsys.readouterr().out
