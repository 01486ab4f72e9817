"""`depyf verify`: levels, what differs in place, and each exit code."""

from __future__ import annotations

import py_compile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from depyf.cli.commands import depyf
from depyf.cli.exit_codes import EXIT_DONE, EXIT_FAILED, EXIT_UNPROVEN, EXIT_USAGE
from tests import interpreters
from tests.bytecode.listings import COMPILE

SOURCE = "def f(a, b):\n    for x in a:\n        print(x + b)\n    return [a]\n"
OTHER = SOURCE.replace("x + b", "x - b")


@pytest.fixture
def pyc(tmp_path: Path) -> str:
    """A `.pyc` of SOURCE."""
    path = tmp_path / "original.py"
    path.write_text(SOURCE, encoding="utf-8")
    return str(py_compile.compile(str(path), str(tmp_path / "original.pyc"), doraise=True))


def candidate(folder: Path, text: str) -> str:
    path = folder / "candidate.py"
    path.write_text(text, encoding="utf-8")
    return str(path)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(depyf, ["verify", *arguments])


def test_a_target_that_is_proven(pyc: str) -> None:
    done = run(pyc)
    assert (done.exit_code, done.stdout) == (EXIT_DONE, f"{pyc}: EXACT\n")


@pytest.mark.parametrize("target", ["calendar:isleap", "bisect"])
def test_targets_by_name(target: str) -> None:
    done = run(target, "--at-least", "exact")
    assert (done.exit_code, done.stdout) == (EXIT_DONE, f"{target}: EXACT\n")


def test_a_candidate_that_is_the_same(pyc: str, tmp_path: Path) -> None:
    assert run(pyc, candidate(tmp_path, f"# a comment\n{SOURCE}")).exit_code == EXIT_DONE


def test_what_differs_is_shown_in_place(pyc: str, tmp_path: Path) -> None:
    done = run(pyc, candidate(tmp_path, OTHER))
    assert done.exit_code == EXIT_UNPROVEN
    (marked,) = [line for line in done.stdout.splitlines() if line.startswith("> ")]
    left, right = marked.split("|")
    assert "BINARY '+'" in left
    assert "BINARY '-'" in right
    assert "is UNPROVEN, not EQUIVALENT" in done.stderr


def test_less_than_was_asked_for(tmp_path: Path) -> None:
    original = tmp_path / "original.py"
    original.write_text("def f(a):\n    x = 1\n    return (a, x)\n", encoding="utf-8")
    text = "def f(a):\n    x = 1\n    y = x\n    return (a, x)\n"
    assert run(str(original), candidate(tmp_path, text)).exit_code in (EXIT_DONE, EXIT_UNPROVEN)
    done = run(str(original), candidate(tmp_path, text), "--at-least", "EXACT")
    assert done.exit_code == EXIT_UNPROVEN
    assert "not EXACT" in done.stderr


def test_a_candidate_that_does_not_compile(pyc: str, tmp_path: Path) -> None:
    done = run(pyc, candidate(tmp_path, "def f(:\n"))
    assert done.exit_code == EXIT_UNPROVEN
    assert "the source does not compile: SyntaxError" in done.stdout


@pytest.mark.parametrize("version", [(3, 8), (3, 9), (3, 13)], ids=interpreters.label)
def test_a_file_of_another_version(version: tuple[int, int], tmp_path: Path) -> None:
    python = interpreters.need(version)
    source, target = tmp_path / "s.py", tmp_path / "s.pyc"
    source.write_text(SOURCE, encoding="utf-8")
    interpreters.run(python, COMPILE, str(source), str(target))
    folder = str(Path(python).parent)
    assert run(str(target), "--pythons", folder).exit_code == EXIT_DONE
    done = run(str(target), candidate(tmp_path, OTHER), "--pythons", folder)
    assert done.exit_code == EXIT_UNPROVEN
    assert "BINARY '-'" in done.stdout


def test_a_file_that_is_no_code(tmp_path: Path) -> None:
    path = tmp_path / "bad.pyc"
    path.write_bytes(b"nothing")
    done = run(str(path))
    assert done.exit_code == EXIT_FAILED
    assert "no .pyc file" in done.stderr


def test_wrong_usage(tmp_path: Path) -> None:
    text = candidate(tmp_path, SOURCE)
    assert run(str(tmp_path)).exit_code == EXIT_USAGE
    assert run("calendar:isleap", text).exit_code == EXIT_USAGE
    assert run("no_such_module").exit_code == EXIT_USAGE
    assert run("calendar", str(tmp_path / "missing.py")).exit_code == EXIT_FAILED
