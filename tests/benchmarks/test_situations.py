"""The judge of the situations: a right report passes, seeded faults do not."""

from __future__ import annotations

import json
from importlib.metadata import version

import pytest

from benchmarks import situations
from benchmarks.blind_pages import blind, drawn
from benchmarks.forks import Forks, Ran
from benchmarks.situations import (
    PROGRAMS,
    Judgement,
    bars,
    first_bars,
    is_running,
    judge,
    marked,
    measured,
    record,
    shares,
    state,
)

PROGRAM = "def f(x):\n    return x * gain  # here: gain\n"
EXPECTED = {
    "must": [
        {
            "words": ["gain"],
            "kind": "global-float",
            "line": "gain",
            "first": True,
            "above_low": True,
            "compiles": 2,
            "fix_has": ["tensor"],
        },
    ],
    "not_said": ["dynamic=True"],
}
RIGHT = {
    "cause": "`gain` was 2",
    "fix": "make it a tensor",
    "severity": "high",
    "kind": "global-float",
    "where": {"line": 2},
    "compiles": ["0/1", "0/2"],
}


def test_a_right_report_is_right():
    assert judge(EXPECTED, [RIGHT], "depyf: `gain` was 2", PROGRAM).right


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"cause": "`x` was 2"}, "nothing says"),
        ({"where": {"line": 1}}, "line 1, not 2"),
        ({"where": None}, "line None, not 2"),
        ({"severity": "low"}, "only low"),
        ({"compiles": ["0/1"]}, "1 compiles, not 2"),
        ({"fix": None}, "fix without"),
        ({"kind": "argument-float"}, "kind argument-float, not global-float"),
    ],
)
def test_a_seeded_fault_is_missed_by_none(fault, reason):
    judgement = judge(EXPECTED, [{**RIGHT, **fault}], "", PROGRAM)
    assert not judgement.right and reason in judgement.missing[0]


def test_a_finding_that_must_be_first_is_not_second():
    other = {**RIGHT, "cause": "something else"}
    assert "not first" in judge(EXPECTED, [other, RIGHT], "", PROGRAM).missing[0]


@pytest.mark.parametrize("terminal", ["depyf: compile with dynamic=True"])
def test_a_false_sentence_in_the_terminal_is_false(terminal):
    assert judge(EXPECTED, [RIGHT], terminal, PROGRAM).false


def test_a_healthy_loop_has_nothing_above_low():
    assert judge({"healthy": True}, [{**RIGHT, "severity": "low"}], "", PROGRAM).right
    loud = judge({"healthy": True}, [RIGHT], "", PROGRAM)
    assert loud.false and not bars({"loop": loud})[2].met


LIMITED = {
    **RIGHT,
    "kind": "recompile-limit",
    "cause": "2 calls ran eager because the number `gain` was 9, not 8; recompiles for each cause alone: "
    "`gain` 7, gradients on and off 1; compiled again with it: `g`",
}


def test_the_shares_of_a_limit_are_read_and_judged():
    assert shares(LIMITED["cause"]) == [["`gain`", 7], ["gradients on and off", 1]]
    wanted = {"words": ["gain"], "shares": [["`gain`", 7], ["gradients on and off", 1]]}
    assert judge({"must": [wanted]}, [LIMITED], "", PROGRAM).right
    wanted["shares"] = [["`gain`", 8]]
    assert "shares" in judge({"must": [wanted]}, [LIMITED], "", PROGRAM).missing[0]


def test_an_expected_event_is_low():
    assert judge({"must": [{"words": ["gain"], "low": True}]}, [RIGHT], "", PROGRAM).missing


def test_nothing_above_low_stands_at_a_quiet_line():
    assert judge({"must": [], "quiet": ["gain"]}, [RIGHT], "", PROGRAM).false
    assert judge({"must": [], "quiet": ["gain"]}, [{**RIGHT, "severity": "low"}], "", PROGRAM).right


def test_more_findings_above_low_than_causes_are_false():
    second = {**RIGHT, "where": {"line": 1}, "compiles": ["0/3"]}
    assert judge({**EXPECTED, "loud": 1}, [RIGHT, second], "", PROGRAM).false
    assert judge({**EXPECTED, "loud": 2}, [RIGHT, second], "", PROGRAM).right


def test_a_compile_of_two_findings_about_recompiles_is_false():
    again = {**RIGHT, "cause": "`f` was compiled again: `gain` was 2"}
    assert judge(EXPECTED, [again, {**again, "where": {"line": 1}}], "", PROGRAM).false


def test_the_name_of_the_file_is_nothing_that_depyf_says():
    output = "model made\ndepyf: `x` was 2 (class_in_loop.py:3)\n"
    assert situations.said_in_terminal(output, "class_in_loop.py") == "depyf: `x` was 2 (:3)"


def test_a_program_without_an_end_is_wrong():
    judgement = measured("healthy_training", longest=0.01)
    assert judgement.healthy and judgement.missing == ["no end within 0.01 s"]


def test_a_kept_judgement_holds_only_for_what_was_judged(monkeypatch, tmp_path):
    for suffix in (".py", ".json"):
        (tmp_path / f"one{suffix}").write_text((PROGRAMS / f"healthy_training{suffix}").read_text())
    monkeypatch.setattr(situations, "PROGRAMS", tmp_path)
    before = state("one")
    assert state("one") == before
    (tmp_path / "one.json").write_text('{"healthy": false, "must": []}')
    assert state("one") != before


def test_a_first_run_is_kept_once(monkeypatch, tmp_path):
    monkeypatch.setattr(situations, "FIRST", tmp_path / "first_run.json")
    record({"one": Judgement(missing=["no"])})
    record({"one": Judgement(), "two": Judgement(healthy=True)})
    kept = situations.first_runs()
    assert not kept["one"].right and kept["two"].right
    assert [bar.number for bar in first_bars(kept)] == ["0 of 1", "0", "1 of 1"]


EXPECTATION = {"batch", "healthy", "must", "not_said", "loud", "quiet", "exit_code"}
KEYS = {"words", "kind", "line", "first", "above_low", "low", "compiles", "shares", "no_fix", "fix_has", "fix_lacks"}


@pytest.mark.parametrize("path", sorted(PROGRAMS.glob("*.py")), ids=lambda path: path.stem)
def test_each_program_has_an_expectation_whose_marks_exist(path):
    expected = json.loads(path.with_suffix(".json").read_text())
    assert expected.get("healthy") or expected.get("must") or expected.get("not_said")
    others = expected.pop("releases", {})
    assert all(set(each) <= {*EXPECTATION, "lacking"} for each in others.values())
    assert set(expected) <= EXPECTATION
    for each in (expected, *others.values()):
        for mark in each.get("quiet", ()):
            marked(path.read_text(), mark)
        for wanted in each.get("must", ()):
            assert set(wanted) <= KEYS
            if "line" in wanted:
                marked(path.read_text(), wanted["line"])


def test_an_expectation_may_differ_on_some_releases(monkeypatch, tmp_path):
    here = ".".join(version("torch").split(".")[:2])
    assert is_running(f"torch {here}") and is_running(f"torch 2.0 to {here}") and is_running("Python 3.8 to 3.99")
    assert not is_running("torch 2.0 to 2.1") and not is_running("Python 2.7")
    monkeypatch.setattr(situations, "PROGRAMS", tmp_path)
    (tmp_path / "one.json").write_text(json.dumps({"healthy": True, "releases": {f"torch {here}": {"lacking": "no"}}}))
    assert measured("one") is None


def _ending_with(code: int, without_depyf: int):
    return lambda program, dump, longest: Ran(code if dump is not None else without_depyf, "")


def test_a_program_that_this_torch_cannot_run_is_not_judged():
    assert measured("healthy_training", run=_ending_with(1, 1)) is None


def test_a_program_that_ends_otherwise_only_under_depyf_is_wrong():
    judgement = measured("healthy_training", run=_ending_with(1, 0))
    assert judgement.missing[0] == "exit code 1"


@pytest.mark.slow
def test_a_fork_ends_and_prints_as_a_process_of_its_own(tmp_path):
    program = PROGRAMS / "error_on_break.py"
    with Forks() as forks:
        forked = forks.run(program, tmp_path / "forked", 100)
        assert forks.run(program, None, 100).code == forked.code
        with pytest.raises(TimeoutError):
            forks.run(program, tmp_path / "late", 0.01)
    alone = situations.started(program, tmp_path / "alone", 100)
    indexes = [json.loads((tmp_path / name / "index.json").read_text()) for name in ("forked", "alone")]
    findings = [[{**finding, "cost": None} for finding in index["findings"]] for index in indexes]
    assert forked.code == alone.code == 1
    assert findings[0] == findings[1] != []


def test_no_blind_page_names_its_program():
    text = blind(f"dump/{PROGRAMS}/global_step.py:3 y = x * 2  # here: step: `global_step`", "global_step")
    assert text == "dump//program.py:3 y = x * 2: `program`"


def test_situations_are_drawn_once_and_without_healthy_loops():
    names = drawn(40, seed=3)
    assert len(set(names)) == 40 and not any(situations.expectation(name).get("healthy") for name in names)
