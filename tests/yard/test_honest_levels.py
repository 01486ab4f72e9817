"""The table of our levels against the round trip's verdicts."""

from __future__ import annotations

import types

import pytest

from benchmarks import honest_levels
from depyf.verify.level import Level


def _plain(a: int) -> int:
    return a + 1


def test_what_both_call_exact_is_counted_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert honest_levels.report([("plain", _plain.__code__)]) == 0
    assert "| EXACT | 1 | 0 | 0 |" in capsys.readouterr().out


def test_exact_by_us_and_wrong_by_it_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Boast:
        level, reason, source = Level.EXACT, "", "def _plain(a):\n    return a + 2\n"

    def boast(code: types.CodeType) -> Boast:
        return Boast()

    monkeypatch.setattr(honest_levels, "decompile_code", boast)
    assert honest_levels.report([("plain", _plain.__code__)]) == 1
    assert "EXACT by us, yet plain: wrong" in capsys.readouterr().out


def test_reasons_are_grouped_by_what_differs() -> None:
    first = "f: CONST ('int', 1) != ('int', 2) (original offset 4 CONST, candidate offset 4 CONST)"
    two = "g: CONST ('int', 7) != ('int', 8) (original offset 2 CONST, candidate offset 9 CONST)"
    assert honest_levels.rule(first, "") == honest_levels.rule(two, "")
    assert "dispatcher" in honest_levels.rule(first, "    if state == 3:\n")
