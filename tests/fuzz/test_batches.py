"""A program that ends its interpreter is judged by the side that does so, and costs no other program its run."""

from __future__ import annotations

from tests.fuzz import ending
from tests.quality.fuzz.batches import Batch, run_all


def test_a_program_that_ends_its_process_is_judged_alone() -> None:
    by_seed = {result.seed: result for result in run_all(Batch(tuple(range(40))), 1, ending.run)}
    assert sorted(by_seed) == list(range(40))
    assert by_seed[ending.INVALID].kind == "invalid"
    assert by_seed[ending.DIFFERENT].kind == "different"
    assert by_seed[ending.ONCE].kind == "failed"
    others = by_seed.keys() - {ending.INVALID, ending.DIFFERENT, ending.ONCE}
    assert all(by_seed[seed].is_good for seed in others)
