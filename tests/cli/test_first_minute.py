"""The first minute: `depyf` alone, mistyped commands and options, and what `depyf doctor` finds missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from depyf.cli.commands import COMMANDS, depyf
from depyf.cli.exit_codes import EXIT_DONE, EXIT_FAILED, EXIT_USAGE
from depyf.cli.installation import lacks_of_compiling, other_modules, other_packages
from depyf.version import __version__

WIDTH = 80


def _longest(text: str) -> int:
    return max(map(len, text.splitlines()))


def test_depyf_alone_says_what_it_does_and_the_three_commands() -> None:
    done = CliRunner().invoke(depyf, [])
    assert done.exit_code == EXIT_DONE
    assert _longest(done.output) <= WIDTH
    for command in ("depyf run ", "depyf show ", "depyf fix ", "depyf doctor", "depyf --help"):
        assert command in done.output


def test_the_list_of_commands_fits_80_columns_and_cuts_no_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    done = CliRunner().invoke(depyf, ["--help"])
    assert _longest(done.output) <= WIDTH
    rows = done.output.partition("Commands:\n")[2].splitlines()
    assert len(rows) == len(COMMANDS)
    assert all(row.endswith(".") and not row.endswith("...") for row in rows)


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_the_help_of_a_command_fits_80_columns(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    done = CliRunner().invoke(depyf, [command, "--help"])
    assert done.exit_code == EXIT_DONE
    assert _longest(done.output) <= WIDTH


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("shwo", "depyf show"),
        ("Run", "depyf run"),
        ("decomple", "depyf decompile"),
        ("docter", "depyf doctor"),
        ("train.py", "depyf run train.py"),
    ],
)
def test_a_mistyped_command_gets_a_suggestion(typed: str, meant: str) -> None:
    done = CliRunner().invoke(depyf, [typed])
    assert done.exit_code == EXIT_USAGE
    assert f"there is no command '{typed}'. Did you mean `{meant}`" in done.output


def test_a_folder_instead_of_a_command_is_shown(tmp_path: Path) -> None:
    assert f"Did you mean `depyf show {tmp_path}`?" in CliRunner().invoke(depyf, [str(tmp_path)]).output


def test_a_word_that_resembles_nothing_gets_no_suggestion() -> None:
    done = CliRunner().invoke(depyf, ["zzzzzz"])
    assert done.exit_code == EXIT_USAGE
    assert "Did you mean" not in done.output


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [(["show", "--finding", "x"], "--findings"), (["run", "--outptu", "x", "a"], "--output"), (["--hlep"], "--help")],
)
def test_a_mistyped_option_gets_a_suggestion(arguments: list[str], meant: str) -> None:
    done = CliRunner().invoke(depyf, arguments)
    assert done.exit_code == EXIT_USAGE
    assert "Did you mean" in done.output and meant in done.output


def test_a_missing_compiler_is_found_with_the_way_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler -O2")
    first = next(lacks_of_compiling())
    assert "no-such-compiler" in first.what
    assert "apt install g++" in first.fix and "aot_eager" in first.fix


def test_missing_headers_and_packages_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CXX", sys.executable)
    monkeypatch.setattr("depyf.cli.installation.sysconfig.get_path", lambda name: str(tmp_path))
    monkeypatch.setattr("depyf.cli.installation.importlib.util.find_spec", lambda name: None)
    fixes = {lack.what: lack.fix for lack in lacks_of_compiling()}
    assert [what.partition(":")[0] for what in fixes] == ["no headers of Python", "no setuptools", "no numpy"]
    assert any(fix.endswith("pip install setuptools") for fix in fixes.values())


def _installed(folder: Path, name: str, version: str, module: str) -> None:
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    (info / "RECORD").write_text(f"{module}/__init__.py,,\n", encoding="utf-8")
    (folder / module).mkdir(exist_ok=True)
    (folder / module / "__init__.py").write_text("", encoding="utf-8")


def test_other_packages_that_provide_the_module_are_found(tmp_path: Path) -> None:
    _installed(tmp_path / "old", "depyf", "0.20.0", "depyf")
    _installed(tmp_path / "own", "depyf", __version__, "depyf")
    _installed(tmp_path / "fork", "depyf_fork", "1.0", "depyf")
    _installed(tmp_path / "other", "numbers", "1.0", "numbers")
    path = [str(tmp_path / name) for name in ("old", "own", "fork", "other")]
    lacks = list(other_packages(path))
    assert [lack.what.rpartition(": ")[2] for lack in lacks] == ["depyf 0.20.0", "depyf_fork 1.0"]
    assert "pip uninstall depyf_fork" in lacks[1].fix
    assert other_modules(path) == [str(tmp_path / name / "depyf") for name in ("old", "own", "fork")]


def test_the_doctor_says_what_is_missing_and_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="without torch no compiler is needed")
    _installed(tmp_path, "depyf", "0.20.0", "depyf")
    monkeypatch.setenv("CXX", "no-such-compiler")
    monkeypatch.setattr("depyf.cli.doctor._faults_with_torch", list)
    monkeypatch.setattr("sys.path", [*sys.path, str(tmp_path)])
    done = CliRunner().invoke(depyf, ["doctor"])
    assert done.exit_code == EXIT_FAILED
    assert "problem: no C++ compiler" in done.stderr
    assert "problem: another package provides the module depyf: depyf 0.20.0" in done.stderr
    assert done.stderr.count("  to fix it: ") == 2
    assert f"another module depyf is in {tmp_path / 'depyf'}" in done.stdout


def test_a_torch_that_cannot_compile_here_is_a_fault_and_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="the check compiles a function")

    def refuses() -> None:
        raise RuntimeError("torch.compile is not supported on Python 3.99\nmore")

    monkeypatch.setattr("depyf.torch.capture.checkup.check_up", refuses)
    done = CliRunner().invoke(depyf, ["doctor"])
    assert done.exit_code == EXIT_FAILED
    assert "wrong: torch" in done.stderr and "not supported on Python 3.99. depyf needs torch 2.2" in done.stderr


def test_without_torch_the_doctor_says_how_to_get_it(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import importlib.util as u\n"
        "found = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'torch' else found(name, *a)\n"
        "from depyf.cli.commands import depyf\n"
        "depyf(['doctor'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert "pip install torch setuptools numpy" in done.stdout
    assert done.returncode == EXIT_DONE, done.stderr
