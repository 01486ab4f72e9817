"""torch's texts of guards, as guard failures."""

from __future__ import annotations

import pytest

from depyf.model.guard_failure import Check
from depyf.model.torch_text import condition_failure


@pytest.mark.parametrize("expected", ["0.15000000000000002", "-2.0", "1e-05"])
def test_a_float_that_torch_makes_a_tensor_of_is_the_user_s_number(expected: str) -> None:
    failure = condition_failure(f"___as_tensor(L['self'].rate).item() == {expected}", (("L['self'].rate", "0.2"),))
    assert (failure.check, failure.subject, failure.expected, failure.actual) == (
        Check.VALUE,
        "self.rate",
        expected,
        "0.2",
    )


@pytest.mark.parametrize(
    ("condition", "values"),
    [
        ("___as_tensor(L['self'].rate).item() == 0.1", ()),
        ("2*___as_tensor(L['self'].rate).item() == 0.1", (("L['self'].rate", "0.2"),)),
        ("___as_tensor(L['a']).item() == ___as_tensor(L['b']).item()", (("L['a']", "1.0"),)),
    ],
)
def test_a_condition_on_more_than_one_number_stays_a_condition(
    condition: str, values: tuple[tuple[str, str], ...]
) -> None:
    assert condition_failure(condition, values).check is Check.CONDITION


@pytest.mark.parametrize(("offset", "check"), [("0", Check.OFFSET), ("7", Check.CONDITION)])
def test_a_view_at_the_beginning_of_its_storage_has_a_check_of_its_own(offset: str, check: Check) -> None:
    failure = condition_failure("2 <= L['x'].storage_offset()", (("L['x'].storage_offset()", offset),))
    assert failure.check is check and (check is Check.CONDITION or failure.subject == "x")
