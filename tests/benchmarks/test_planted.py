"""The programs with planted differences: each has its line, its inputs and, where it is exact, an equal pair."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the programs are torch's")

from corpus import headlines, planted_bits  # noqa: E402 - after the check that torch is there


def test_there_are_enough_programs_with_names_of_their_own() -> None:
    planted, equal = list(planted_bits.programs()), list(planted_bits.equal_programs())
    assert len(planted) >= 80
    assert len(equal) >= 80
    assert len({program.name for program in planted}) == len(planted)
    wrong = [program.is_wrong for program in headlines.programs()]
    assert (wrong.count(True), wrong.count(False)) == (60, 60)


def test_each_program_runs_and_has_one_planted_line(tmp_path: Path) -> None:
    for program in planted_bits.programs():
        assert program.text.count(planted_bits.MARK) == 1
        program.function(tmp_path)(*program.inputs(exact=False))
    for example in headlines.programs():
        assert example.text.splitlines()[example.line - 1].endswith(headlines.MARK)
        example.function(tmp_path)(*example.inputs())


def test_integers_stay_integers(tmp_path: Path) -> None:
    program = next(program for program in planted_bits.equal_programs() if program.row.exact == "integers")
    result = program.function(tmp_path)(*program.inputs(exact=True))
    assert bool((result == result.round()).all())
