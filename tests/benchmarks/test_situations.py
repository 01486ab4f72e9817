"""The judge of the situations: a right report passes, seeded faults do not."""

from __future__ import annotations

import json

import pytest

from benchmarks.situations import PROGRAMS, bars, judge, marked

PROGRAM = "def f(x):\n    return x * gain  # here: gain\n"
EXPECTED = {
    "must": [
        {"words": ["gain"], "line": "gain", "first": True, "above_low": True, "compiles": 2, "fix_has": ["tensor"]},
    ],
    "not_said": ["dynamic=True"],
}
RIGHT = {
    "cause": "`gain` was 2",
    "fix": "make it a tensor",
    "severity": "high",
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


@pytest.mark.parametrize("path", sorted(PROGRAMS.glob("*.py")), ids=lambda path: path.stem)
def test_each_program_has_an_expectation_whose_marks_exist(path):
    expected = json.loads(path.with_suffix(".json").read_text())
    assert expected.get("healthy") or expected["must"]
    for wanted in expected.get("must", ()):
        if "line" in wanted:
            marked(path.read_text(), wanted["line"])
