"""`depyf run --debug` beside the debuggers of VS Code and PyCharm, started as the documentation tells users to."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("click", reason="the command line needs click")
pytest.importorskip("torch", reason="the torch part of depyf needs torch")

from depyf.cli.launch_json import write_launch_json  # noqa: E402 - after the check that torch is there
from depyf.model.run import Unavailable  # noqa: E402
from depyf.torch.adapters.runs import watch_runs  # noqa: E402

PROGRAM = """
import torch

@torch.compile(backend="aot_eager")
def f(x, y):
    z = x / (torch.abs(x) + 1)
    return z * y

print("results", f(torch.ones(3, requires_grad=True), torch.ones(3)).tolist(), flush=True)
"""
SECONDS = 180
SOME_LINE = "div: "


@pytest.fixture(autouse=True)
def _told_of_runs() -> None:
    end = watch_runs(lambda code: None)
    if isinstance(end, Unavailable):
        pytest.skip(end.reason)
    end()


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


def forward_line(dump: Path) -> tuple[Path, int]:
    """Return a line of the forward graph: where a breakpoint is set once the program has paused."""
    (path,) = dump.glob("*.Forward_graph.0.py")
    lines = path.read_text(encoding="utf-8").splitlines()
    return path, 1 + next(number for number, line in enumerate(lines) if SOME_LINE in line)


def stop_in_the_forward_graph(client: Any, stopped: Any, dump: Path) -> None:
    """Set a breakpoint at the pause, go on, and look at a variable where it stops."""
    thread, _ = stopped()
    path, line = forward_line(dump)
    answer = client.ask("setBreakpoints", source={"path": str(path)}, breakpoints=[{"line": line}])
    assert [answered["verified"] for answered in answer["breakpoints"]] == [True]
    client.ask("continue", threadId=thread)
    _, frame = stopped()
    assert (Path(frame["source"]["path"]), frame["line"]) == (path, line)
    seen = client.ask("evaluate", expression="primals_1.tolist()", frameId=frame["id"], context="watch")
    assert seen["result"] == "[1.0, 1.0, 1.0]"


@pytest.mark.slow
def test_vs_code_attaches_to_a_program_that_depyf_runs(script: Path, tmp_path: Path) -> None:
    pytest.importorskip("debugpy", reason="needs debugpy, the debugger of VS Code")
    from benchmarks.debugged import Debugged, free_port, under_debugpy

    port = free_port()
    run = ["-m", "depyf", "run", "--debug", "--no-html", "-o", str(tmp_path / "out")]
    program = Debugged(*run, *under_debugpy(port), str(script), port=port)
    try:
        stop_in_the_forward_graph(program.client, program.stopped, tmp_path / "out")
    finally:
        program.end()


@pytest.mark.slow
def test_vs_code_follows_depyf_run_into_the_program(script: Path, tmp_path: Path) -> None:
    pytest.importorskip("debugpy", reason="needs debugpy, the debugger of VS Code")
    from benchmarks.dap import DapClient
    from benchmarks.debugged import Debugged, free_port, next_stop

    written = write_launch_json(tmp_path / "out", str(script), (), is_module=False, cwd=tmp_path)
    (launch,) = json.loads(written.read_text(encoding="utf-8"))["configurations"]
    assert launch["subProcess"] and launch["module"] == "depyf"
    port = free_port()
    listening = ["-m", "debugpy", "--listen", f"127.0.0.1:{port}", "--wait-for-client", "-m", "depyf"]
    program = Debugged(*listening, *launch["args"], port=port, subProcess=True, justMyCode=launch["justMyCode"])
    try:
        session = program.client.event("debugpyAttach")["body"]
        client = DapClient(port, SECONDS)
        client.ask("initialize", adapterID="depyf-tests", linesStartAt1=True, pathFormat="path")
        attach = client.send("attach", **session)
        client.event("initialized")
        client.ask("configurationDone")
        client.answer(attach)
        stop_in_the_forward_graph(client, lambda: next_stop(client), tmp_path / "out")
        client.close()
    finally:
        program.end()


@pytest.mark.slow
def test_pycharms_debugger_follows_depyf_run_into_the_program(script: Path, tmp_path: Path) -> None:
    pytest.importorskip("pydevd_pycharm", reason="needs pydevd-pycharm, the debugger of PyCharm")
    from tests.launch.pycharm import PyCharm

    run = ["depyf", "run", "--debug", "--no-html", "-o", str(tmp_path / "out"), str(script)]
    with PyCharm(SECONDS) as pycharm:
        program = subprocess.Popen(
            [sys.executable, *pycharm.arguments(), *run],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            connection, thread, _, _ = pycharm.stopped()
            path, line = forward_line(tmp_path / "out")
            pycharm.break_at(connection, path, line)
            pycharm.go_on(connection, thread)
            connection, thread, *where = pycharm.stopped()
            assert where == [str(path), line]
            pycharm.go_on(connection, thread)
            said, _ = program.communicate(timeout=SECONDS)
            assert (said.strip(), program.returncode) == ("results [0.5, 0.5, 0.5]", 0)
        finally:
            program.kill()
            program.communicate()
