"""A program that harms its own process ends its try, and never `depyf fix`; the user's files stay as they are."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


AT_ONCE = ("forks", "reads stdin", "changes directory", "a thread", "overwrites itself")


def written(folder: Path, *names: str) -> Path:
    """Write a program with faults, and return its path."""
    program = folder / "program.py"
    fault = "\n".join(FAULTS[name][0] for name in names)
    program.write_text(PROGRAM.format(fault=fault), encoding="utf-8")
    return program


def check_untouched(program: Path, before: bytes) -> None:
    """Check that the program is as it was, and that no other file has appeared beside it."""
    assert program.read_bytes() == before
    names = {path.name for path in program.parent.iterdir()}
    assert names <= {"program.py", "fix.json", "depyf_fix.patch"}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(FAULTS))
def test_a_fault_is_no_hang_and_touches_no_file(name: str, tmp_path: Path, forked_fix: Callable[..., Any]) -> None:
    program = written(tmp_path, name)
    before = program.read_bytes()
    done = forked_fix(program, "--limit", "120")
    assert done.exit_code == FAULTS[name][1], done.output
    assert ("kept" in done.output) == (done.exit_code == 0), done.output
    check_untouched(program, before)


@pytest.mark.slow
def test_faults_at_once_in_the_command_of_a_user(tmp_path: Path) -> None:
    program = written(tmp_path, *AT_ONCE)
    before = program.read_bytes()
    command = [sys.executable, "-W", "ignore", "-m", "depyf", "fix", "--limit", "120", program.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "kept" in done.stdout and "Traceback" not in done.stderr
    check_untouched(program, before)
