"""A program that ends its interpreter is judged by the side that does so, and costs no other program its run."""

from __future__ import annotations

from tests.fuzz import ending
from tests.quality.fuzz.batches import Batch, run_all


def test_a_program_that_ends_its_process_is_judged_alone() -> None:
    found = {found.seed: found for found in run_all(Batch(tuple(range(40))), 1, ending.run)}
    assert sorted(found) == list(range(40))
    assert found[ending.INVALID].kind == "invalid"
    assert found[ending.DIFFERENT].kind == "different"
    assert found[ending.ONCE].kind == "failed"
    others = found.keys() - {ending.INVALID, ending.DIFFERENT, ending.ONCE}
    assert all(found[seed].is_good for seed in others)
