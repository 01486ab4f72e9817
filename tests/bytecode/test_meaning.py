"""What normalised code does is what the interpreter that compiled it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from depyf.bytecode.pyc import load
from tests import interpreters
from tests.bytecode import random_programs
from tests.bytecode.evaluator import run_module

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.txt"))
COMPILE_AND_RUN = """
import marshal, py_compile, sys
source, target = sys.argv[1:]
py_compile.compile(source, target, doraise=True)
sys.stdout.reconfigure(encoding="utf-8")
names = {"__name__": "evaluated"}
with open(target, "rb") as file:
    exec(marshal.loads(file.read()[16:]), names)
sys.stdout.write(ascii(names["main"]()))
"""


def first_version(path: Path) -> tuple[int, int]:
    """Read from a program's first line which version it needs."""
    version = path.read_text(encoding="utf-8").split(":")[0].removeprefix("# from ")
    major, minor = version.split(".")
    return int(major), int(minor)


def check(source: Path, target: Path, version: tuple[int, int]) -> None:
    """Compare what a program returns under its interpreter and under the evaluator."""
    python = interpreters.need(version)
    expected = interpreters.run(python, COMPILE_AND_RUN, str(source), str(target))
    assert ascii(run_module(load(target.read_bytes()))["main"]()) == expected


@pytest.mark.parametrize("version", interpreters.VERSIONS, ids=interpreters.label)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_programs_do_what_they_do_under_their_interpreter(
    program: Path, version: tuple[int, int], tmp_path: Path
) -> None:
    if version < first_version(program):
        pytest.skip(f"{program.name} needs a newer version")
    check(program, tmp_path / "program.pyc", version)


@pytest.mark.parametrize("version", interpreters.VERSIONS, ids=interpreters.label)
def test_random_programs_do_what_they_do_under_their_interpreter(version: tuple[int, int], tmp_path: Path) -> None:
    source = tmp_path / "program.py"
    source.write_text(random_programs.module(seed=1, functions=60), encoding="utf-8")
    check(source, tmp_path / "program.pyc", version)
