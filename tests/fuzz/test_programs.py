"""Programs in bytecode that no compiler writes do what they did when they are decompiled."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests import interpreters

ROOT = Path(__file__).parents[2]
VERSIONS = ((3, 10), (3, 11), (3, 12), (3, 13), (3, 14))


def fuzz(version: tuple[int, int], *options: str) -> str:
    """Run the tool under an interpreter and return what it prints; each program that is not the same is printed."""
    python = interpreters.need(version)
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [python, "-m", "tests.quality.fuzz", *options],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=environment,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr
    return done.stdout


@pytest.mark.parametrize("version", VERSIONS, ids=interpreters.label)
def test_programs_without_handlers(version: tuple[int, int]) -> None:
    assert "different 0 failed 0" in fuzz(version, "--seed", "3000", "--programs", "100", "--profile", "calm")


@pytest.mark.parametrize("version", VERSIONS[1:], ids=interpreters.label)
def test_programs_that_part_groups_of_exceptions(version: tuple[int, int]) -> None:
    assert "different 0 failed 0" in fuzz(version, "--seed", "100", "--programs", "50", "--profile", "groups")


def test_asynchronous_generators_that_go_on_are_not_heard_of() -> None:
    assert "different 0 failed 0" in fuzz((3, 12), "--seed", "920", "--programs", "60", "--profile", "wide")
