"""What is appended while a run goes on tells what the index tells at its end."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import depyf  # noqa: E402 - after the check that torch is there
from depyf.findings import findings  # noqa: E402
from depyf.model.index_json import index_json  # noqa: E402
from depyf.model.index_reader import has_index, read_run, session_of  # noqa: E402
from depyf.model.running_compile import LOG  # noqa: E402
from depyf.model.running_log import COUNTS, read_log  # noqa: E402
from depyf.torch.adapters import lacking  # noqa: E402
from depyf.views.html.build import build_report  # noqa: E402
from tests.torch.needs import needs  # noqa: E402

pytestmark = needs(lacking.structured_trace())


def f(x: torch.Tensor, n: int) -> torch.Tensor:
    x = x + n
    torch._dynamo.graph_break()
    return x * 2


def run() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(f, backend="aot_eager", dynamic=False)
    for n in (1, 2, 3, 3, 3):
        compiled(torch.ones(n, requires_grad=True), n).sum().backward()


def without_what_waits(index: dict[str, Any]) -> dict[str, Any]:
    """Return an index without what says when it was written, and without graphs that no file has yet."""
    for function in index["functions"]:
        for frame in (function, *function["resume_functions"]):
            for compiled in frame["compiles"]:
                compiled["artefacts"] = [part for part in compiled["artefacts"] if part["file"]]
    return {key: value for key, value in index.items() if key not in ("findings", "now", "trace")}


def test_the_log_tells_what_the_index_tells(tmp_path: Path) -> None:
    with depyf.prepare_debug(tmp_path, keep_index=True) as session:
        run()
        log = read_log(tmp_path)
        now = json.loads(index_json(session, findings(session)))
        assert without_what_waits(log) == without_what_waits(now)
        assert findings(session_of(read_log(tmp_path))) == findings(session_of(now))
        assert build_report(tmp_path).page.is_file()
    assert not (tmp_path / LOG).exists() and not (tmp_path / COUNTS).exists()
    assert read_run(tmp_path).session.ended


def test_the_compile_that_goes_on_is_named(tmp_path: Path) -> None:
    events = []

    def backend(graph: Any, inputs: Any) -> Any:
        events.extend(read_run(tmp_path).session.now)
        return graph

    torch._dynamo.reset()
    with depyf.prepare_debug(tmp_path, keep_index=True):
        torch.compile(lambda x: x + 1, backend=backend)(torch.ones(2))
    (now,) = events
    assert (now.phase, now.alive) == ("the backend", True)
    assert now.words.startswith("now compiling `<lambda>`")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only a process of its own can be killed")
def test_a_killed_run_leaves_its_report(tmp_path: Path) -> None:
    import subprocess

    program = (
        "import os, signal, torch, depyf\n"
        f"with depyf.prepare_debug({str(tmp_path)!r}, keep_index=True):\n"
        "    c = torch.compile(lambda x: x + 1, backend='eager')\n"
        "    for _ in range(7): c(torch.ones(2))\n"
        "    def end(graph, inputs): os.kill(os.getpid(), signal.SIGKILL)\n"
        "    torch.compile(lambda x: x * 2, backend=end)(torch.ones(2))\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], check=False)
    assert ended.returncode == -signal.SIGKILL
    session = read_run(tmp_path).session
    (first, last) = (compiled for _, compiled in session.compiles())
    assert first.hits in (7, None)  # None where this torch does not say which code runs.
    assert (first.phase, last.phase, session.ended) == ("", "the backend", False)
    (finding, *_) = findings(session)
    assert (finding.kind, finding.severity) == ("unfinished", "high")
    assert "ended while compiling `<lambda>` 1/0, the backend" in finding.cause
    assert build_report(tmp_path).page.is_file() and has_index(tmp_path)


def test_a_log_that_was_cut_off_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    with depyf.prepare_debug(tmp_path, keep_index=True):
        run()
        whole = (tmp_path / LOG).read_text(encoding="utf-8")
    for size in range(len(whole) // 2, len(whole), 997):
        (tmp_path / LOG).write_text(whole[:size], encoding="utf-8")
        assert read_run(tmp_path).session.functions
    (tmp_path / LOG).write_text("{}\n", encoding="utf-8")
    with pytest.raises(ValueError, match="is not a log of depyf"):
        read_log(tmp_path)
