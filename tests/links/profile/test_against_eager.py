"""Lines beside their time without compiled code."""

from __future__ import annotations

import pytest

from depyf.links.origins import Origin
from depyf.links.profile.against_eager import Group, groups
from depyf.links.profile.tables import Row
from depyf.links.profile.text import most_expensive

A, B, C, D = (("user.py", line) for line in (1, 2, 3, 4))


def row(seconds: float, *lines: Origin) -> Row:
    return Row(tuple(lines), {"kernel": seconds}, [seconds, seconds])


def steady(**seconds: float) -> dict[Origin, tuple[float, ...]]:
    """Return lines, by the name of each here, whose eager steps do not differ."""
    return {globals()[name]: (time, time) for name, time in seconds.items()}


def test_lines_that_no_kernel_connects_are_compared_one_by_one() -> None:
    compared = groups([row(2.0, A), row(1.0, B)], steady(A=1.5, B=3.0))
    assert compared == [Group((A,), 2.0, 1.5, 0.0), Group((B,), 1.0, 3.0, 0.0)]
    assert [group.slower for group in compared] == [0.5, -2.0]


def test_lines_that_kernels_connect_are_compared_together() -> None:
    compared = groups([row(2.0, A), row(1.0, A, B), row(0.5, B, C), row(4.0, D)], steady(A=4.0, B=5.0, C=1.0))
    assert compared == [Group((A, B, C), 3.5, 10.0, 0.0)]


def test_a_connection_that_is_seen_late_joins_all_rows() -> None:
    compared = groups([row(1.0, A, B), row(1.0, C, D), row(1.0, B, C)], steady(D=2.0))
    assert compared == [Group((A, B, C, D), 3.0, 2.0, 0.0)]


def test_steps_that_differ_among_themselves_are_noise() -> None:
    (group,) = groups([Row((A,), {"kernel": 2.0}, [1.0, 3.0])], {A: (2.0, 2.0, 2.0)})
    assert group.slower == 0.0
    assert group.noise == pytest.approx(3 * 2**0.5)


def test_the_terminal_names_what_changed() -> None:
    place = {"file": "user.py", "line": 1, "text": "y = x @ w"}
    profile = {
        "step": {"steps": 3, "seconds": 0.01, "without_profiler": None, "profiler": 0.0, "left_out": {}},
        "lines": [],
        "findings": [],
        "kinds": {},
        "notes": [],
        "against_eager": [
            {"lines": [place] * 5, "compiled": 0.004, "eager": 0.002, "noise": 0.001},
            {"lines": [place], "compiled": 0.002, "eager": 0.00201, "noise": 0.0},
            {"lines": [place], "compiled": 0.005, "eager": 0.003, "noise": 0.0021},
            {"lines": [place], "compiled": 0.001, "eager": 0.003, "noise": 0.0},
        ],
    }
    lines = [line.strip() for line in most_expensive(profile)]
    assert lines[1:4] == [
        "against eager:",
        "2.00 ms slower, 4.00 ms compiled and 2.00 ms eager: "
        "user.py:1  y = x @ w; user.py:1  y = x @ w; user.py:1  y = x @ w; and 2 lines more",
        "2.00 ms faster, 1.00 ms compiled and 3.00 ms eager: user.py:1  y = x @ w",
    ]
