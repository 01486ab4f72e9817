"""The order in which edits are judged by the numbers of a run."""

from __future__ import annotations

import pytest

from depyf.fix.counts import BETTER, EQUAL, TRADE, WORSE, Counts, compare_counts, cost

PLAIN = Counts(compiles=3, breaks=2, failures=1, calls=6, compiled=6, seconds=4.0)


@pytest.mark.parametrize(
    ("after", "verdict"),
    [
        (Counts(1, 0, calls=6, compiled=6), BETTER),
        (Counts(3, 1, failures=1, calls=6, compiled=6), BETTER),
        (PLAIN, EQUAL),
        # A number of the data that a break hid is compiled for each value: corpus/agent_tasks/label_names.py.
        (Counts(8, 1, calls=6, compiled=6), TRADE),
        (Counts(2, 3, failures=1, calls=6, compiled=6), TRADE),
        (Counts(1, 0, calls=6, compiled=4), TRADE),
        (Counts(1, 0, eager=2, calls=6, compiled=6), TRADE),
        (Counts(4, 2, failures=1, calls=6, compiled=6), WORSE),
        (Counts(3, 2, failures=1, calls=6, compiled=5), WORSE),
    ],
)
def test_no_number_may_rise_for_another(after: Counts, verdict: str) -> None:
    assert compare_counts(PLAIN, after) == verdict


def test_more_compiled_calls_may_take_more_compiles() -> None:
    before = Counts(compiles=1, breaks=1, calls=6, compiled=0)
    assert compare_counts(before, Counts(2, 2, calls=6, compiled=6)) == BETTER
    assert compare_counts(Counts(1, 1, eager=5), Counts(2, 0)) == BETTER


def test_the_price_of_better_numbers_is_in_words() -> None:
    assert cost(Counts(1, 0, seconds=1.0), Counts(2, 1, seconds=1.4), ratio=0.9) == "1 -> 2 compiles, 0 -> 1 breaks"
    assert cost(Counts(9, 2, seconds=4.0), Counts(1, 0, seconds=7.5), ratio=0.5) == (
        "4.0 -> 7.5 s compiling, a call takes 2.0 times as long"
    )
    assert cost(Counts(9, 2, seconds=4.0), Counts(1, 0, seconds=2.0)) == ""
