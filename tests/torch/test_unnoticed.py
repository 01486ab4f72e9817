"""A sample of `benchmarks.unnoticed`: what a program can see is the same inside of a context as without one."""

from __future__ import annotations

import os

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")

from benchmarks.unnoticed import FEATURES_AT_LEAST, Comparison, differences  # noqa: E402
from corpus.features import load  # noqa: E402 - after the check that torch is there

SAMPLE = (
    "calls.graph_break_by_print",
    "failing.attribute_that_was_deleted",
    "failing.user_exception_that_goes_out",
    "reading.levels_of_loggers",
    "reading.logs_of_dynamo_at_debug",
    "reading.place_of_a_log_record",
    "reading.settings_while_it_runs",
    "surroundings.constants_of_dynamos_code_die",
    "training.forward_and_backward",
)


@pytest.mark.skipif(not hasattr(os, "fork") or not os.path.isdir("/proc/self/fd"), reason="this system is no Linux")
def test_a_program_notices_nothing() -> None:
    compared = Comparison()
    compared.add(SAMPLE)
    assert compared.found == {}
    assert len(compared.memory) == len(SAMPLE)


def test_there_are_enough_features_and_differences_are_found() -> None:
    assert len(load()) >= FEATURES_AT_LEAST
    first = {"feature": "f", "result": [1], "after": {"threads": 1}}
    other = {"feature": "g", "result": [1], "after": {"threads": 2}}
    assert list(differences(first, other)) == ["/after/threads: 1 -> 2"]
