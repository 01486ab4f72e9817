"""What is said about a recompile: what was looked at, what can be done, and what the entries ask for differently."""

from __future__ import annotations

import pytest

from depyf.report.advice import OF_FLOATS, OF_NUMBERS, OF_OBJECTS, OF_STATE, OF_STRINGS, advice
from depyf.report.entry_table import NOTHING, entry_table
from depyf.report.model import Guard, Refusal
from depyf.report.refused import refused


def test_a_text_that_nobody_knows_is_kept_whole_and_has_no_advice() -> None:
    (found,) = refused(Refusal("0/0", ("something new",)))
    assert (found.text, found.source, found.expected) == ("something new", "", "")
    assert advice(found) == ""


def test_an_explained_respect_is_taken_apart() -> None:
    text = 'size of L["x"]: expected (2, 8), got (2, 12)  (:134 return F.linear(input, self.bias))'
    (found,) = refused(Refusal("0/0", ("torch's own words",), (text,)))
    assert (found.aspect, found.source) == ("size", 'L["x"]')
    assert (found.expected, found.actual) == ("(2, 8)", "(2, 12)")
    assert found.where == ":134 return F.linear(input, self.bias)"


@pytest.mark.parametrize("where", ["linear.py:134 return F.linear(input, self.bias)", "/home/me/linear.py:134"])
def test_the_line_that_needs_it_may_be_in_another_file(where: str) -> None:
    (found,) = refused(Refusal("0/0", (), (f'size of L["x"]: expected (2, 8), got (2, 12)  ({where})',)))
    assert (found.actual, found.where) == ("(2, 12)", where)


def test_torchs_own_words_are_taken_apart_where_there_are_no_others() -> None:
    (found,) = refused(Refusal("0/0", ("tensor 'x' size mismatch at index 1. expected 8, actual 12",)))
    assert (found.source, found.aspect, found.expected, found.actual) == ("x", "size", "8", "12")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('size of L["x"]: expected (2, 8), got (2, 12)', "mark_dynamic(x, 1)"),
        ('size of L["x"]: expected (2, 8), got (3, 12)', "mark_dynamic(x, [0, 1])"),
        ('size of L["x"]: expected (2, 8), got (2,)', "one number of dimensions"),
        ('dtype of L["x"]: expected torch.float32, got torch.float64', "one dtype"),
        ('L["scale"]: expected 1.0, got 2.0', OF_FLOATS),
        ('L["n"]: expected 3, got 4', OF_NUMBERS),
        ('L["flag"]: expected True, got False', "for each value"),
        ("grad_mode: expected True, got False", OF_STATE),
        ("L[\"name\"]: expected 'a', got 'bc'", OF_STRINGS),
        ('L["activation"]: expected torch.relu, got torch.tanh', OF_OBJECTS),
        ("x (HINT: torch says so)", "torch: torch says so"),
    ],
)
def test_advice_is_by_what_was_not_as_expected(text: str, says: str) -> None:
    (found,) = refused(Refusal("0/0", (), (text,)))
    assert says in advice(found)


def guard(clause: str, source: str = 'L["x"]', kind: str = "TENSOR_MATCH") -> Guard:
    return Guard(kind, source, "", clause)


def test_entries_that_ask_for_the_same_have_no_rows() -> None:
    table = entry_table({"0/0": (guard("a"), guard("b")), "0/1": (guard("b"), guard("a"))})
    assert table.rows == () and table.shared == 2


def test_of_a_call_only_the_arguments_that_differ_are_shown() -> None:
    one = guard('tensor(L["x"], torch.Tensor, size=(2, 8), requires_grad=False)')
    other = guard('tensor(L["x"], torch.Tensor, size=(2, 12), requires_grad=False)')
    (row,) = entry_table({"0/0": (one,), "0/1": (other,)}).rows
    assert row.source == 'L["x"]'
    assert row.asked == {"0/0": "size=(2, 8)", "0/1": "size=(2, 12)"}


def test_what_one_entry_alone_asks_for_is_told_so() -> None:
    (row,) = entry_table({"0/0": (), "0/1": (guard("2 <= s0", "", "LAMBDA_GUARD"),)}).rows
    assert row.source == "2 <= s0" and row.asked == {"0/0": NOTHING, "0/1": "holds"}


def test_a_number_of_the_process_in_a_name_is_no_difference() -> None:
    entries = {f"0/{n}": (guard(f'G["__builtins_dict___{n}"] is iter', f'G["__builtins_dict___{n}"]'),) for n in (0, 6)}
    assert entry_table(entries).rows == ()
