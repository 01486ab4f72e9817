"""The decompiler and the report work where Python lacks what only POSIX has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TRACE = ROOT / "tests" / "trace" / "data" / "small_2.13.log.gz"

MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "readline", "curses")
MODULES += ("torch", "IPython")
FUNCTIONS = ("fork", "forkpty", "register_at_fork", "setsid", "killpg", "getuid", "geteuid", "getpgid", "uname")
FUNCTIONS += ("chown", "sched_getaffinity", "mkfifo", "sysconf", "wait3", "wait4")
SIGNALS = ("SIGKILL", "SIGALRM", "SIGHUP", "SIGUSR1", "SIGCHLD", "SIGQUIT", "alarm", "setitimer", "pthread_sigmask")

WITHOUT = f"""
import os, signal, subprocess, sys, tempfile
for name in {MODULES!r}:
    sys.modules[name] = None
import multiprocessing
for name in {FUNCTIONS!r}:
    if hasattr(os, name):
        delattr(os, name)
for name in {SIGNALS!r}:
    if hasattr(signal, name):
        delattr(signal, name)
"""
DECOMPILE = """
import depyf
def f(a):
    for x in a:
        if x: return [y for y in x if y]
print(depyf.decompile(f))
from depyf.cli.commands import depyf as command
from click.testing import CliRunner
done = CliRunner().invoke(command, ["decompile", "calendar:isleap"])
assert done.exit_code == 0, (done.output, done.exception)
print(done.output)
"""
REPORT = """
from pathlib import Path
from click.testing import CliRunner
from depyf.cli.commands import depyf as command
done = CliRunner().invoke(command, ["report", sys.argv[1], "-o", sys.argv[2]])
assert done.exit_code == 0, (done.output, done.exception)
"""
EVERY_MODULE = """
import importlib, pathlib
root = pathlib.Path(sys.argv[1])
for path in sorted((root / "depyf").rglob("*.py")):
    parts = path.relative_to(root).with_suffix("").parts
    # The SDK of `depyf mcp` asks for the platform itself, and an integration needs its trainer.
    left_out = {"boot", "mcp", "integrations"} & set(parts) or parts[1] in ("torch", "explain", "optimization")
    if path.stem == "__main__" or left_out:
        continue
    try:
        importlib.import_module(".".join(parts).removesuffix(".__init__"))
    except ModuleNotFoundError as error:
        assert error.name.partition(".")[0] in ("torch", "IPython", "pytest"), error
"""


def _run(program: str, *arguments: object) -> str:
    command = [sys.executable, "-c", WITHOUT + program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_module_but_those_of_torch_is_imported() -> None:
    _run(EVERY_MODULE, ROOT / "src")


def test_a_function_is_decompiled() -> None:
    pytest.importorskip("click", reason="the command line needs click")
    assert "def isleap(year)" in _run(DECOMPILE)


def test_a_report_is_written(tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="the report needs jinja2")
    _run(REPORT, TRACE, tmp_path / "report")
    assert list((tmp_path / "report").rglob("*.html"))


def test_what_only_posix_has_is_gone() -> None:
    checks = "print(sys.modules['fcntl'], hasattr(os, 'fork'), hasattr(signal, 'SIGKILL'))"
    assert _run(checks).strip() == "None False False"
