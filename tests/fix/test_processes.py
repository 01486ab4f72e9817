"""The process of a try: it is forked with its own streams, directory and session, and ended if it takes too long."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")
pytest.importorskip("libcst", reason="depyf[fix] installs it")

from depyf.fix.plan import Plan, read_plan
from depyf.fix.processes import ENDED_LATE, Nursery, run_afresh
from depyf.fix.tries import Program, Tries

PROGRAM = """import os, sys, time
print(os.getcwd(), sys.argv[1:], os.getpid() == os.getsid(0), repr(sys.stdin.read()))
if "late" in sys.argv:
    time.sleep(900)
if "killed" in sys.argv:
    os.kill(os.getpid(), 9)
if "gone" in sys.argv:
    os.kill(os.getppid(), 9)
sys.exit(7)
"""


def plan_of(folder: Path, *arguments: str) -> Plan:
    program = folder / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    for name in ("try", "run"):
        (folder / name).mkdir(exist_ok=True)
    return Plan(str(program), arguments, str(folder / "try"), str(folder / "run"))


def test_a_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "a")
    assert read_plan(plan.write()) == plan


@pytest.mark.slow
def test_a_new_process_and_a_forked_one_are_alike(tmp_path: Path) -> None:
    nursery = Nursery()
    said = []
    for run in (run_afresh, nursery.run):
        plan = plan_of(tmp_path, "a", "b c")
        assert run(plan, 200) == (7, "")
        said.append((tmp_path / "try" / "stdout").read_text())
    assert said == [f"{tmp_path / 'run'} ['a', 'b c'] True ''\n"] * 2
    assert run_afresh(plan_of(tmp_path, "killed"), 200) == (-9, "")
    assert nursery.run(plan_of(tmp_path, "late"), 5) == (-9, ENDED_LATE)
    assert nursery.run(plan_of(tmp_path), 200) == (7, "")
    nursery.run(plan_of(tmp_path, "gone"), 200)
    assert nursery.run(plan_of(tmp_path), 200) is None and not nursery.is_alive


@pytest.mark.slow
def test_a_program_that_sets_variables_is_not_forked(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    Path(plan.target).write_text("import os\nos.environ['OMP_NUM_THREADS'] = '1'\n", encoding="utf-8")
    tries = Tries(Program(plan.target, (), False, tmp_path / "run", 1, False, 200.0), tmp_path / "tries")
    assert tries._nursery is None
    tries.forget()
