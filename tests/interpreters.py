"""The other Python interpreters of this machine, for tests that compare versions."""

from __future__ import annotations

import os
import subprocess

import pytest

from benchmarks.interpreters import VERSIONS, executable, find, label

__all__ = ["VERSIONS", "executable", "find", "label", "need", "run"]


def need(version: tuple[int, int]) -> str:
    """Return the path of an interpreter; skip the test that asks, with the version, where there is none."""
    path = find(version)
    if path is None:
        pytest.skip("no CPython {}.{} on this machine".format(*version))
    return path


def run(python: str, script: str, *arguments: str) -> str:
    """Run a script under an interpreter; return what it prints."""
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [python, "-W", "ignore", "-c", script, *arguments], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
