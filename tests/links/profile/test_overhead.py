"""What the profiler takes is taken out of what has the profiler's events inside."""

from __future__ import annotations

import pytest

from depyf.links.profile.charges import BACKWARD, DYNAMO, GUARDS, KERNEL, PYTHON, WRAPPER, Charge
from depyf.links.profile.model import Cost
from depyf.links.profile.overhead import MOST_AN_EVENT, overhead, without_overhead


def cost(kind: str, *seconds: float, times: float = 1, file: str = "") -> Cost:
    return Cost(Charge(kind, file=file), seconds, times)


def test_a_part_is_taken_for_each_time() -> None:
    costs = [cost(KERNEL, 8.0, 8.0, times=9), cost(WRAPPER, 2.0, 4.0, times=3), cost(DYNAMO, 1.0, 1.0)]
    corrected = without_overhead(costs, 1.0)
    kept = {item.charge.kind: item for item in corrected}
    assert kept[KERNEL].each_step == (8.0, 8.0)
    assert kept[WRAPPER].seconds == pytest.approx(3.0 - 0.75)
    assert kept[WRAPPER].each_step == pytest.approx((1.5, 3.0)), "each step loses the same part"
    assert kept[DYNAMO].seconds == pytest.approx(0.75)


def test_nobody_loses_more_than_it_has_and_the_others_bear_the_rest() -> None:
    corrected = without_overhead([cost(PYTHON, 0.25, times=3), cost(WRAPPER, 4.0)], 1.0)
    assert [item.seconds for item in corrected] == pytest.approx([3.25, 0.0])


def test_a_step_of_kernels_and_guards_alone_stays_as_it_is() -> None:
    costs = [cost(KERNEL, 2.0), cost(GUARDS, 1.5), cost(BACKWARD, 1.0, file="kernel.py")]
    assert without_overhead(costs, 1.0) == costs


def test_what_no_profiler_takes_is_noise() -> None:
    costs = [cost(KERNEL, 0.5), cost(PYTHON, 0.5)]
    assert overhead(1.1e-3, 1.0e-3, 300, costs) == pytest.approx(1e-4)
    assert overhead(3.0e-3, 1.0e-3, 300, costs) == pytest.approx(300 * MOST_AN_EVENT)
    assert overhead(0.9e-3, 1.0e-3, 300, costs) == 0.0
    assert overhead(1.0, None, 300, costs) == 0.0


def test_the_profiler_takes_no_more_than_there_is_outside_of_kernels() -> None:
    """The parts would add up to more than the step otherwise."""
    costs = [cost(KERNEL, 8e-4), cost(GUARDS, 1e-5), cost(PYTHON, 3e-5), cost(WRAPPER, 1e-5)]
    taken = overhead(8.5e-4, 7.5e-4, 300, costs)
    assert taken == pytest.approx(4e-5)
    kept = without_overhead(costs, taken)
    assert sum(item.seconds for item in kept) == pytest.approx(sum(item.seconds for item in costs) - taken)
