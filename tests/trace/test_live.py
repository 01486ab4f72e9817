"""The report made live beside the one made from the trace of the same run."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="a live capture needs torch")

from click.testing import CliRunner  # noqa: E402 - after the check that torch is there

import depyf  # noqa: E402
from depyf.cli.commands import depyf as command  # noqa: E402


def scaled(x, n):
    y = x.sin() * n
    torch._dynamo.graph_break()
    return y.cos()


def test_the_trace_that_is_kept_tells_what_the_capture_tells(tmp_path: Path) -> None:
    from benchmarks.traces.live import compared

    torch._dynamo.reset()
    with depyf.prepare_debug(tmp_path / "live", keep_trace=True) as session:
        compiled = torch.compile(scaled, backend="aot_eager")
        for size in (4, 5):
            compiled(torch.ones(size), 2)
    if "torch's trace" in session.unavailable:
        pytest.skip(session.unavailable["torch's trace"])
    trace = tmp_path / "live" / "trace"
    runner = CliRunner()
    assert runner.invoke(command, ["report", str(trace), "-o", str(tmp_path / "read")]).exit_code == 0
    assert len(list(session.compiles())) == 4
    assert list(compared(tmp_path / "live", tmp_path / "read", session)) == []
    compared = runner.invoke(command, ["diff", str(tmp_path / "live"), str(trace)])
    assert (compared.exit_code, compared.output) == (0, "nothing changed\n")
