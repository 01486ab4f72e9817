"""Damaged traces: none raises, and what stands before the damage is read."""

from __future__ import annotations

from benchmarks.traces.damaged import failures


def test_damaged_traces_are_read() -> None:
    assert list(failures(150, 7, dumped=30)) == []
