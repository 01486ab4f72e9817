"""Which lines got slower from one profile to another."""

from __future__ import annotations

from typing import Any

from depyf.links.profile.comparison import slower


def row(line: int, text: str, seconds: float, spread: float = 0.0001, others: tuple[str, ...] = ()) -> dict[str, Any]:
    together = [{"file": "a.py", "line": line + n, "text": row_text} for n, row_text in enumerate((text, *others))]
    line_entry = {"file": "a.py", "line": line, "text": text, "seconds": seconds, "spread": spread}
    return {**line_entry, "set": together if others else []}


def profile(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"step": {"seconds": 0.1}, "lines": list(rows)}


def test_a_line_is_slower_by_more_than_noise_and_known_by_its_text() -> None:
    old = profile(row(3, "x = a @ b", 0.010), row(4, "y = x.sin()", 0.010))
    new = profile(row(13, "x = a @ b", 0.020), row(14, "y = x.sin()", 0.0102))
    rows = slower(old, new)
    assert [(change.place, change.before, change.after) for change in rows] == [("a.py:13", 0.010, 0.020)]
    assert str(rows[0]) == "a.py:13  x = a @ b: 10.00 ms before, 20.00 ms now (+10.00 ms, noise 424.3 us)"


def test_what_steps_differ_by_themselves_is_noise() -> None:
    assert slower(profile(row(3, "x", 0.010, 0.004)), profile(row(3, "x", 0.020, 0.004))) == []


def test_little_of_the_step_and_what_is_faster_is_not_told() -> None:
    assert slower(profile(row(3, "x", 0.0010)), profile(row(3, "x", 0.0019))) == []
    assert slower(profile(row(3, "x", 0.02)), profile(row(3, "x", 0.01))) == []


def test_a_new_line_and_a_set_of_lines() -> None:
    old = profile(row(3, "x", 0.01, 0, ("y",)))
    new = profile(row(3, "x", 0.04, 0, ("y",)), row(9, "z", 0.02))
    assert [(change.place, change.before) for change in slower(old, new)] == [("a.py:3", 0.01), ("a.py:9", 0.0)]
    assert "x and 1 lines computed with it" in str(slower(old, new)[0])


def test_of_lines_with_one_text_each_is_compared_with_its_own() -> None:
    old = profile(row(3, "x", 0.01), row(7, "x", 0.05))
    assert [change.place for change in slower(old, profile(row(3, "x", 0.01), row(7, "x", 0.09)))] == ["a.py:7"]
