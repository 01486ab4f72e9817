"""Nothing is left behind, whatever goes wrong: the scenarios of the bar, in this process."""

from __future__ import annotations

import pytest

from benchmarks import left_behind
from depyf.torch.adapters import lacking

# Nothing calls these where torch writes no trace.
OF_THE_TRACE = ("depyf.torch.capture.active:record_compile_id", "depyf.torch.capture.prepare:DumpContext.on_record")


@pytest.mark.parametrize("name", [*left_behind.SCENARIOS, *left_behind.HOOKS, *left_behind.BEGINNINGS])
def test_torch_and_the_results_are_what_they_were(name: str) -> None:
    missing = lacking.structured_trace()
    if missing is not None and name in OF_THE_TRACE:
        pytest.skip(missing.reason)
    assert left_behind.problems_of(left_behind.scenario(name)) == []
