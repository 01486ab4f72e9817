"""Seeded faults in every package: how many does `make test` catch of those that `make test-all` catches?

    python -m tests.quality.tiers [--count 300] [--seed 0] [--jobs 2]

Each fault changes one place of one function of `src/depyf` (`tests/quality/mutations.py`), in a copy of the project.
The packages get the same number of faults. The first tier runs, and where it passes, the second; a run ends with its
first failure. Tests of the text of the package are left out, since a fault loses the comments of its file. Prints a
row for each fault, and exits with 1 if the first tier catches less than 97 % of what both catch.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bar import Bar, report
from tests.quality.mutations import KINDS

ROOT = Path(__file__).resolve().parents[2]
LEAST = 97
"""Per cent of the faults that both tiers catch, which the first must catch alone."""
COPIED = (
    *("src", "tests", "corpus", "benchmarks", "scripts", "examples", "docs", ".github", ".ci", "pyproject.toml"),
    *("Makefile", "LICENSE", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"),
)
OF_THE_TEXT = ("tests/test_architecture.py", "tests/test_docstrings.py", "tests/docs/test_style.py")
NO_TESTS = 5
"""pytest's exit code where nothing is selected."""


@dataclass(frozen=True)
class Fault:
    """A file of the package with one place changed: its path relative to the root, what was done, and the text."""

    path: str
    line: int
    kind: str
    text: str


def faults(seed: int) -> Iterator[Fault]:
    """Yield faults without end, one package after another.

    Args:
        seed: of the choice of files, functions and changes.
    """
    chance = random.Random(seed)
    package = ROOT / "src" / "depyf"
    rooms = sorted(path for path in package.iterdir() if path.is_dir() and any(path.rglob("*.py")))
    for room in itertools.cycle(rooms):
        fault = _fault_in(chance.choice(sorted(room.rglob("*.py"))), chance)
        if fault is not None:
            yield fault


def _fault_in(path: Path, chance: random.Random) -> Fault | None:
    """Change one function of a file; None if it has none that the drawn kind can change."""
    tree = ast.parse(path.read_bytes())
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    if not functions:
        return None
    function, kind = chance.choice(functions), chance.choice(sorted(KINDS))
    actions = list(KINDS[kind](function))
    before = ast.unparse(tree)
    if not actions:
        return None
    chance.choice(actions)()
    text = ast.unparse(ast.fix_missing_locations(tree))
    return None if text == before else Fault(path.relative_to(ROOT).as_posix(), function.lineno, kind, text + "\n")


def copy_project(target: Path) -> None:
    """Copy what the tests need of the project into an empty folder."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=shutil.ignore_patterns("__pycache__", "_build"))
        else:
            shutil.copy(source, target / name)


def catches(project: Path, tier: str, jobs: int) -> bool:
    """Return whether a tier fails in a copy of the project.

    Args:
        project: the root of the copy.
        tier: the expression for pytest's `-m`.
        jobs: how many processes run tests.
    """
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", str(jobs), "--dist", "loadfile", "-m", tier]
    command += [f"--ignore={path}" for path in OF_THE_TEXT]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(project / "src"), str(project)))}
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, check=False)
    return done.returncode not in (0, NO_TESTS)


def main(arguments: list[str]) -> None:
    """Seed faults, and print which tier catches each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    first = caught = 0
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        copy_project(project)
        if catches(project, "not second", options.jobs):
            sys.exit("the first tier fails without a fault: nothing can be said of the faults")
        for fault in itertools.islice(faults(options.seed), options.count):
            target = project / fault.path
            original = target.read_bytes()
            target.write_text(fault.text, encoding="utf-8")
            in_first = catches(project, "not second", options.jobs)
            in_second = not in_first and catches(project, "second", options.jobs)
            target.write_bytes(original)
            first, caught = first + in_first, caught + (in_first or in_second)
            outcome = "first tier" if in_first else "second tier" if in_second else "not caught"
            print(f"{outcome:12}  {fault.path}:{fault.line}  {fault.kind}", flush=True)
    is_met = caught > 0 and 100 * first >= LEAST * caught
    report([Bar("seeded faults that the first tier catches, of those that both catch", f"{first} of {caught}", is_met)])


if __name__ == "__main__":
    main(sys.argv[1:])
