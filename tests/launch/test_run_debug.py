"""`depyf run --debug`: the program pauses before compiled code first runs, in a terminal, beside an editor, or not."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("click", reason="the command line needs click")
pytest.importorskip("torch", reason="the torch part of depyf needs torch")
from depyf.model.run import Unavailable  # noqa: E402 - after the check that torch is there
from depyf.torch.adapters.runs import watch_runs  # noqa: E402

PROGRAM = """
import sys
import torch

@torch.compile(backend="aot_eager")
def f(x, y):
    z = x / (torch.abs(x) + 1)
    if y.sum() < 0:
        y = y * -1
    return z * y

a = torch.ones(3, requires_grad=True)
for _ in range(2):
    f(a, torch.ones(3)).sum().backward()
print("results", a.grad.tolist(), "" if sys.stdin.isatty() else sys.stdin.read())
sys.exit(3)
"""
START = ["-c", "from depyf.cli.entry import main; main()", "run", "--debug", "-o", "out"]
PROMPT = r"\(Pdb\) "
SECONDS = 180


@pytest.fixture(autouse=True)
def _told_of_runs() -> None:
    end = watch_runs(lambda code: None)
    if isinstance(end, Unavailable):
        pytest.skip(end.reason)
    end()


class Terminal:
    """A program in a terminal of its own, with the file that a line of the last place is in."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        pexpect = pytest.importorskip("pexpect", reason="needs pexpect for a terminal")
        (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
        self.end = pexpect.EOF
        self.child: Any = pexpect.spawn(
            sys.executable,
            [*START, *(arguments or ("--no-html", "program.py"))],
            cwd=str(folder),
            timeout=SECONDS,
            encoding="utf-8",
            env={**os.environ, "NO_COLOR": "1"},
            echo=False,
            dimensions=(200, 400),
        )

    def told(self) -> str:
        """Return what is said up to the next prompt."""
        self.child.expect(PROMPT)
        return str(self.child.before)

    def ask(self, command: str) -> str:
        """Return what pdb, or the program after it, says to a command."""
        self.child.sendline(command)
        return self.told()

    def finish(self, command: str) -> tuple[str, int]:
        """Return what is said from a command to the end, and the exit code."""
        self.child.sendline(command)
        self.child.expect(self.end)
        self.child.close()
        return str(self.child.before), int(self.child.exitstatus)


def place(said: str, kind: str) -> str:
    """Return `FILE:LINE` of the place of some kind in what a pause tells."""
    match = re.search(rf"break at (\S*{kind}\S*:\d+)", said)
    assert match, said
    return match[1]


def test_in_a_terminal_it_pauses_at_the_prompt_of_pdb(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    said = terminal.told()
    assert "__transformed_code_0_for_f.py(" in said, "the prompt stands in the code that is about to run"
    forward = place(said, "Forward_graph")
    assert "Breakpoint 1 at" in terminal.ask(f"break {forward}")
    assert forward.rsplit(":", 1)[0] in terminal.ask("continue")
    assert terminal.ask("p primals_1.tolist()").strip() == "[1.0, 1.0, 1.0]"
    terminal.ask("clear 1")
    resumed = terminal.ask("continue")
    assert "torch_dynamo_resume_in_f_at_8, compile 1/0: break at" in resumed
    backward = terminal.ask("continue")
    assert "Forward_graph" not in backward, "of what was told before, only what is new is told"
    terminal.ask(f"break {place(backward, 'Backward_graph')}")
    terminal.ask("continue")
    assert "__compiled_fn_1.Backward_graph.0.py(" in terminal.ask("continue")
    rest, status = terminal.finish("continue")
    assert "results [0.5, 0.5, 0.5]" in rest and status == 3, rest
    assert "2 compiles of 1 function" in rest, "nothing of the debugger's was compiled"
    assert "Exception ignored" not in rest


def test_stepping_goes_from_file_to_file_of_the_dump_and_over_torch(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.told()
    visited = [match[1] for _ in range(14) if (match := re.search(r"> (\S+?)\(\d+\)", terminal.ask("step")))]
    assert visited and all(path.startswith(str(tmp_path)) for path in visited), visited
    assert any("AOT_runtime_wrapper" in path for path in visited), visited
    assert terminal.finish("go")[1] == 3


def test_it_goes_on_without_another_pause_when_asked_to(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.told()
    rest, status = terminal.finish("go")
    assert "(Pdb)" not in rest and "results" in rest and status == 3
    assert "torch_dynamo_resume_in_f_at_8, compile 1/0: break at" in rest, "the places are still told"


def test_without_a_terminal_it_tells_the_places_and_leaves_the_input_to_the_program(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, *START, "--no-html", "program.py"],
        cwd=tmp_path,
        input="some input",
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("results [0.5, 0.5, 0.5] some input\n", 3), done.stderr
    assert "there is no terminal to wait at; continuing" in done.stderr
    path, line = place(done.stderr, "Backward_graph").rsplit(":", 1)
    assert "torch.ops.aten" in Path(path).read_text(encoding="utf-8").splitlines()[int(line) - 1]
