"""Nothing is left behind, whatever goes wrong: the scenarios of the bar, in this process."""

from __future__ import annotations

import pytest

from benchmarks import left_behind


@pytest.mark.parametrize("name", [*left_behind.SCENARIOS, *left_behind.HOOKS, *left_behind.BEGINNINGS])
def test_torch_and_the_results_are_what_they_were(name: str) -> None:
    assert left_behind.problems_of(left_behind.scenario(name)) == []
