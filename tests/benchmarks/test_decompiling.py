"""What measures the decompiler sees what it is to see."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks import growth, peers, speed
from benchmarks.families import FAMILIES
from benchmarks.measured import Answer, Measured

NEWER = {"except_stars": (3, 11)}


@pytest.mark.parametrize("name", FAMILIES)
def test_the_programs_of_a_family_are_python(name: str) -> None:
    if sys.version_info < NEWER.get(name, (3, 10)):
        pytest.skip(f"{name} has syntax that this Python does not know")
    family = FAMILIES[name]
    for size in (1, 2, 7):
        compile(family.text(size), name, "exec")
    assert len(family.text(7)) > len(family.text(2))


def test_a_time_that_grows_too_fast_is_taken_again_and_the_least_counts() -> None:
    class Slow:
        def ask(self, task: dict[str, object]) -> Answer:
            return Answer("done", 1.0 if task["n"] == 10 else 10.5, "EXACT", "")

    late = Answer("done", 30.0, "EXACT", "")
    before, answer = growth.taken_again(Slow(), "x", (10, 1.2), 100, late)  # type: ignore[arg-type]
    assert before == (10, 1.0) and answer.seconds == 10.5
    unproven = Answer("done", 30.0, "UNPROVEN", "why")
    assert growth.taken_again(Slow(), "x", (10, 1.2), 100, unproven) == ((10, 1.2), unproven)  # type: ignore[arg-type]


def test_an_interpreter_answers_in_turn_and_after_it_died() -> None:
    with Measured(sys.executable, "ours-verified") as measured:
        assert measured.ask({"family": "seq_if", "n": 3}).level == "EXACT"
        measured.process.kill()
        measured.process.wait()
        assert measured.ask({"family": "seq_if", "n": 3}).status == "died"
        answer = measured.ask({"family": "seq_if", "n": 3})
    assert answer.status == "done" and answer.seconds > 0


def test_growth_is_the_exponent_between_two_sizes() -> None:
    assert growth.exponent(None, 10, 1.0) == 0
    assert growth.exponent((10, 1.0), 100, 10.0) == pytest.approx(1)
    assert growth.exponent((10, 1.0), 100, 100.0) == pytest.approx(2)


def test_what_is_wrong_with_a_size() -> None:
    done = Answer("done", 1.0, "EXACT", "")
    assert growth.faults("x", done, 1.1) == []
    assert growth.faults("x", done, 1.3) == ["x: grows as n^1.30"]
    assert growth.faults("x", Answer("done", 0.01, "EXACT", ""), 1.3) == []
    assert growth.faults("x", Answer("done", 1.0, "UNPROVEN", "why"), 1.0) == ["x: UNPROVEN why"]
    assert growth.faults("x", Answer("late", 9.0, "", ""), 1.0) == ["x: late "]


def test_a_peer_that_is_not_there_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(peers, "FOLDER", tmp_path)
    monkeypatch.setenv(peers.FOLDERS, str(tmp_path / "other"))
    assert peers.find(peers.PEERS[0]) is None
    python = tmp_path / "other" / peers.PEERS[0].name / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    assert peers.find(peers.PEERS[0]) == str(python)


def test_quantiles_of_answers() -> None:
    answers = [Answer("done", float(number), "", "") for number in range(100)]
    assert speed.quantile(answers, 0.5) == 50
    assert speed.quantile(answers, 1.0) == 99
    assert speed.total(answers) == sum(range(100))
