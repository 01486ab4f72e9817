"""The exercise of adding a pass: in a copy of the project, the pass and its cases are all that is written."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("src/depyf", "tests", "corpus", "benchmarks", "scripts")
PASS = '''"""`return` for `return None`, which compiles to the same code."""

from __future__ import annotations

import ast

from depyf.decompiler.passes.conditions import structures
from depyf.decompiler.passes.registry import Stage, registers
from depyf.decompiler.passes.walk import statements
from depyf.decompiler.steps import step


@registers(
    "bare-returns",
    Stage.STATEMENTS,
    "write `return` for `return None`",
    takes=("stmts",),
    optional=True,
    applies=structures,
    after={"as-written": "it decides what the author wrote"},
)
def write_bare_returns(body: list[ast.stmt]) -> None:
    """Remove the None of each return, in place."""
    for stmt in statements(body):
        if isinstance(stmt, ast.Return) and isinstance(stmt.value, ast.Constant) and stmt.value.value is None:
            step("line {}: a return has no value", stmt.lineno)
            stmt.value = None
'''
CASES = """## bare-returns: a return of None
def f(a): a.c
---
if a:
    return None
---
if a:
    return

## bare-returns: a return of a number
def f(a): a.c
---
if a:
    return 1
---
unchanged
"""
PROGRAM = "def f(a):\n    if a:\n        return None\n    return a.b\n"
MOST_FILES = 2


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the project."""
    folder = tmp_path_factory.mktemp("copy")
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def digests(folder: Path) -> dict[str, str]:
    """Return the content of each file of a project, by its path."""
    files = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def run(folder: Path, *command: str) -> str:
    """Return what a command prints in a copy of the project."""
    environment = {**os.environ, "PYTHONPATH": f"{folder / 'src'}{os.pathsep}{folder}", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_pass_is_added_with_its_cases_alone(copy: Path) -> None:
    program = copy.parent / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    assert "return None" in run(copy, "-m", "depyf", "decompile", str(program))
    before = digests(copy)
    (copy / "src/depyf/decompiler/passes/bare_returns.py").write_text(PASS, encoding="utf-8")
    (copy / "tests/decompiler/forms/bare_returns.txt").write_text(CASES, encoding="utf-8")
    after = digests(copy)
    changed = {path for path in {*before, *after} if before.get(path) != after.get(path)}
    print(f"files touched to add a pass: {len(changed)}")
    assert len(changed) <= MOST_FILES
    assert "return None" not in run(copy, "-m", "depyf", "decompile", str(program))
    assert "return None" in run(copy, "-m", "depyf", "decompile", str(program), "--without", "bare-returns")
    tests = run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/decompiler/test_forms.py", "-k", "bare")
    assert "3 passed" in tests
