"""What is proven of the standard libraries may only grow, on every Python that is here."""

from __future__ import annotations

import pytest

from benchmarks import ratchet
from tests.interpreters import VERSIONS, label, need


@pytest.mark.parametrize("version", VERSIONS, ids=label)
def test_no_count_of_the_sample_is_worse_than_committed(version: tuple[int, int]) -> None:
    counts = ratchet.count(need(version))
    before = ratchet.committed().get(counts.release)
    if before is None:
        # Another release of Python has another standard library: its sample is held to a share.
        assert counts.share("EXACT") >= 0.9, counts
        return
    assert not ratchet.worse(counts.levels, before), counts


def test_fewer_exact_and_more_unproven_are_worse() -> None:
    before = {"EXACT": 97, "EQUIVALENT": 1, "UNPROVEN": 1, "FAILED": 1}
    assert ratchet.worse(before, before) == []
    assert ratchet.worse({"EXACT": 100}, before) == []
    assert ratchet.worse({"EXACT": 98, "EQUIVALENT": 0, "UNPROVEN": 2}, before) == []
    assert ratchet.worse({"EXACT": 96, "EQUIVALENT": 4}, before) == ["exact: 96, were 97"]
    assert ratchet.worse({"EXACT": 98, "FAILED": 2}, before) == ["failed: 2, were 1"]
    assert ratchet.worse({"EXACT": 97, "UNPROVEN": 3}, before) == ["failed or unproven: 3, were 2"]
