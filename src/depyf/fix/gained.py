"""A test that fails if the program compiles worse again than with the kept edits: `depyf fix --contract FILE`.

It runs the program in the test's process, with the numbers of the run with the kept edits as the contract.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from depyf.findings.contract.contract import ASPECTS
from depyf.findings.contract.facts import facts
from depyf.fix.tries import Outcome, Program

COUNTED = [aspect for aspect in ASPECTS if aspect != "cache_misses"]
"""What the contract limits. The caches are those of the machine."""
TEXT = '''"""Limits of how {name} compiles, from the run of `depyf fix` with the edits that it kept."""

import runpy
import sys
from pathlib import Path

import torch

import depyf


def test_{test}_compiles_as_before(monkeypatch):
    target = {target}
    monkeypatch.setattr(sys, "argv", [target, *{arguments}])
    monkeypatch.syspath_prepend({folder})
    torch._dynamo.reset()
    with depyf.expect({limits}):
        {call}
'''


def contract_test(program: Program, outcome: Outcome, file: Path) -> str:
    """Return the text of a test that runs a program under a contract.

    Args:
        program: the program, as it is run.
        outcome: the run with the kept edits.
        file: the file of the test, relative to which the test finds the program.

    Raises:
        ValueError: the run has no dump, or the program is pytest, whose tests have a marker for contracts.
    """
    if outcome.run is None or (program.is_module and program.target == "pytest"):
        raise ValueError("mark the test with `@pytest.mark.compiles(...)` instead")
    counts = Counter(fact.aspect for fact in facts(outcome.run.session))
    limits = ", ".join(f"{aspect}={counts[aspect]}" for aspect in COUNTED)
    beside = os.path.relpath(Path.cwd() if program.is_module else program.target, file.resolve().parent)
    path = f"(Path(__file__).parent / {Path(beside).as_posix()!r}).resolve()"
    name = program.target if program.is_module else Path(program.target).name
    return TEXT.format(
        name=f"`{name}`",
        test="".join(letter if letter.isalnum() else "_" for letter in Path(name).stem),
        target=repr(program.target) if program.is_module else f"str({path})",
        folder=f"str({path})" if program.is_module else "str(Path(target).parent)",
        arguments=list(program.arguments),
        limits=limits,
        call=f'runpy.{"run_module" if program.is_module else "run_path"}(target, run_name="__main__")',
    )
