"""A program that harms its own process ends its try, and never `depyf fix`; the user's files stay as they are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")
pytest.importorskip("libcst", reason="depyf[fix] installs it")

PROGRAM = """import os, signal, sys, threading, time
import torch


def f(x):
    y = x * 2
    torch._dynamo.graph_break()
    return y + 1


step = torch.compile(f, backend="eager")
print(step(torch.ones(3)))
{fault}
"""
FAULTS = {
    "killed": ("os.kill(os.getpid(), signal.SIGKILL)", 2),
    "forks": ("if os.fork() == 0:\n    time.sleep(600)\n", 0),
    "reads stdin": ("print(repr(sys.stdin.read()))", 0),
    "changes directory": ("os.makedirs('made'); os.chdir('made'); open('here.txt', 'w').write('x')", 0),
    "a thread": ("t = threading.Thread(target=print, args=('thread',)); t.start(); t.join()", 0),
    "overwrites itself": ("open(os.path.basename(__file__), 'w').write('gone')", 0),
    "raises": ("raise ValueError('no')", 0),
}
"""Each fault with the exit code of `depyf fix`."""


@pytest.mark.slow
@pytest.mark.parametrize("name", list(FAULTS))
def test_a_fault_is_no_hang_and_touches_no_file(name: str, tmp_path: Path) -> None:
    fault, code = FAULTS[name]
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(fault=fault), encoding="utf-8")
    before = program.read_bytes()
    command = [sys.executable, "-W", "ignore", "-m", "depyf", "fix", "--limit", "120", program.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert program.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} <= {"program.py", "fix.json", "depyf_fix.patch"}
    assert ("kept" in done.stdout) == (code == 0), done.stdout
