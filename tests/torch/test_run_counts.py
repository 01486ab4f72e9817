"""Runs of compiled code are counted without its context, which hears of the first one alone."""

from __future__ import annotations

import json
import os
import struct
import types
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import depyf  # noqa: E402 - after the check that torch is there
from depyf.model.run import Compile, CompileId, Unavailable  # noqa: E402
from depyf.model.running_log import COUNTS  # noqa: E402
from depyf.torch.adapters.runs import watch_runs  # noqa: E402
from depyf.torch.capture.run_counts import NOWHERE, RunCounts  # noqa: E402


def code(name: str) -> types.CodeType:
    return compile("1", name, "eval")


def compiled() -> Compile:
    return Compile(CompileId(0, 0), "f", "f.py", 1)


def test_code_that_is_only_counted_is_passed_to_nobody() -> None:
    heard: list[types.CodeType] = []
    counts, first, other, numbers = RunCounts(heard.append), code("one"), code("other"), [7, 7]
    compiled_code = compiled()
    counts.listener(first)
    counts.add(first, (compiled_code, numbers, 1))
    for ran_code in (first, other, first):
        counts.listener(ran_code)
    assert heard == [first, other]
    assert (compiled_code.hits, numbers) == (2, [7, 9])
    counts.clear()
    counts.listener(first)
    assert heard[-1] is first and compiled_code.hits == 2


def test_equal_code_is_counted_apart() -> None:
    heard: list[types.CodeType] = []
    counts, first, equal = RunCounts(heard.append), code("one"), code("one")
    counts.add(first, (compiled(), NOWHERE, 0))
    counts.listener(equal)
    assert first == equal and heard[0] is equal


def test_code_that_dies_is_forgotten() -> None:
    counts, dying = RunCounts(lambda _: None), code("dying")
    counts.add(dying, (compiled(), NOWHERE, 0))
    assert counts._counters and counts._codes
    del dying
    assert not counts._counters and not counts._codes


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_runs_in_a_forked_child_are_no_runs_of_its_parent(tmp_path: Path) -> None:
    end = watch_runs(lambda code: None)
    if isinstance(end, Unavailable):
        pytest.skip(end.reason)
    end()
    torch._dynamo.reset()
    double = torch.compile(lambda x: x * 2, backend="eager")

    def counted() -> int:
        return struct.unpack_from("q", (tmp_path / COUNTS).read_bytes())[0] - 1

    with depyf.prepare_debug(tmp_path, keep_index=True):
        for _ in range(3):
            double(torch.ones(3))
        assert counted() == 3
        child = os.fork()
        if child == 0:
            double(torch.ones(3))
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert counted() == 3
        double(torch.ones(3))
        assert counted() == 4
    (function,) = json.loads((tmp_path / "index.json").read_text(encoding="utf-8"))["functions"]
    assert [compile_entry["hits"] for compile_entry in function["compiles"]] == [4]
