"""`depyf decompile TARGET`: each kind of target, and each exit code."""

from __future__ import annotations

import ast
import py_compile
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from depyf.cli.commands import depyf
from depyf.cli.exit_codes import EXIT_DONE, EXIT_FAILED, EXIT_USAGE

SOURCE = "def double(x):\n    return x * 2\n"


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with `doubling.py`, from which it can be imported."""
    path = tmp_path / "doubling.py"
    path.write_text(SOURCE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return path


def test_a_function_of_a_module(module: Path) -> None:
    done = CliRunner().invoke(depyf, ["decompile", "doubling:double"])
    assert done.exit_code == EXIT_DONE
    assert done.stdout == SOURCE


def test_a_source_file(module: Path) -> None:
    done = CliRunner().invoke(depyf, ["decompile", str(module)])
    assert done.exit_code == EXIT_DONE
    assert ast.unparse(ast.parse(done.stdout)) == ast.unparse(ast.parse(SOURCE))


def test_a_compiled_file(module: Path, tmp_path: Path) -> None:
    compiled = py_compile.compile(str(module), str(tmp_path / "doubling.pyc"), doraise=True)
    done = CliRunner().invoke(depyf, ["decompile", str(compiled)])
    assert done.exit_code == EXIT_DONE
    assert ast.unparse(ast.parse(done.stdout)) == ast.unparse(ast.parse(SOURCE))


def test_out_goes_to_a_file(module: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.py"
    done = CliRunner().invoke(depyf, ["decompile", "doubling:double", "-o", str(out)])
    assert (done.exit_code, done.stdout) == (EXIT_DONE, "")
    assert out.read_text(encoding="utf-8") == SOURCE


def test_out_that_cannot_be_written(module: Path, tmp_path: Path) -> None:
    out = tmp_path / "nowhere" / "out.py"
    done = CliRunner().invoke(depyf, ["decompile", "doubling:double", "-o", str(out)])
    assert done.exit_code == EXIT_FAILED
    assert str(out) in done.stderr


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("nowhere.py", "nowhere.py: no such file"),
        ("nowhere.pyc", "nowhere.pyc: no such file"),
        ("doubling.py.txt:", "neither FILE.py, FILE.pyc, a folder"),
        ("doubling:", "neither FILE.py"),
        ("no_such_module:f", "no_such_module"),
        ("doubling.inner", "doubling.inner"),
        ("doubling:triple", "doubling has no 'triple'"),
        ("doubling:double.inner", "doubling.double has no 'inner'"),
    ],
)
def test_a_target_that_leads_nowhere(module: Path, target: str, says: str) -> None:
    done = CliRunner().invoke(depyf, ["decompile", target])
    assert done.exit_code == EXIT_USAGE
    assert says in done.stderr


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("broken.py", b"def f(:\n", "broken.py"),
        ("truncated.pyc", b"\xa7\r", "truncated.pyc"),
        ("noise.pyc", b"\x00" * 64, "noise.pyc"),
    ],
)
def test_a_file_that_is_no_code(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    done = CliRunner().invoke(depyf, ["decompile", str(path)])
    assert done.exit_code == EXIT_FAILED
    assert says in done.stderr
    assert "Traceback" not in done.output


def test_an_object_without_bytecode(module: Path) -> None:
    done = CliRunner().invoke(depyf, ["decompile", "doubling:__name__"])
    assert done.exit_code == EXIT_FAILED
    assert "'doubling'" in done.stderr


def test_without_click_the_script_says_what_to_install() -> None:
    program = "import sys; sys.modules['click'] = None; from depyf.cli.entry import main; main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == EXIT_USAGE
    assert "pip install click rich jinja2" in done.stderr


def test_the_module_runs_as_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "depyf", "--version"], capture_output=True, text=True, check=True)
    assert "1." in done.stdout


DEFINED = '''\
import functools

LIMIT = 3


class Counter:
    """Counts."""

    step: int = 1

    @functools.cache
    def count(self, to: int = LIMIT, *, by=len) -> list:
        def inner(x=to):
            return x

        return [self.__next(inner)] * by('ab')

    def __next(self, inner):
        return inner()


if LIMIT:
    def either(x=1):
        return x
else:
    class Other:
        def either(self):
            return self
'''


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("Counter", "class Counter:", "        return inner()"),
        ("Counter.count", "@functools.cache", "    return [self.__next(inner)] * by('ab')"),
        ("Counter.count.inner", "def inner(x=to):", "    return x"),
        ("Counter.count.<locals>.inner", "def inner(x=to):", "    return x"),
        ("either", "def either(x=1):", "    return x"),
        ("Other.either", "def either(self):", "    return self"),
    ],
)
def test_a_definition_as_it_stands_in_its_module(module: Path, name: str, first: str, last: str) -> None:
    module.with_name("defined.py").write_text(DEFINED, encoding="utf-8")
    done = CliRunner().invoke(depyf, ["decompile", f"defined:{name}"])
    assert done.exit_code == EXIT_DONE, done.output
    lines = done.stdout.splitlines()
    assert (lines[0], lines[-1]) == (first, last)
    assert done.stderr == f"defined:{name}: EXACT\n"
    assert "defined" not in sys.modules


def test_a_class_has_no_forms_to_show(module: Path) -> None:
    module.with_name("defined.py").write_text(DEFINED, encoding="utf-8")
    done = CliRunner().invoke(depyf, ["decompile", "defined:Counter", "--show", "bytecode"])
    assert done.exit_code == EXIT_USAGE
    assert "no bytecode of its own" in done.stderr


LAID = """# a comment

import os; import sys



class A:

    def f(self):
        # why
        return g(self)
"""


def test_as_written_lays_the_text_out_on_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "laid.py"
    path.write_text(LAID, encoding="utf-8")
    done = CliRunner().invoke(depyf, ["decompile", "--as-written", str(path)])
    assert done.exit_code == EXIT_DONE
    assert done.stdout == LAID.replace("# a comment", "").replace("        # why", "")
    assert "EXACT" in done.stderr
    out = tmp_path / "out"
    whole = CliRunner().invoke(depyf, ["decompile", "--as-written", str(tmp_path), "-o", str(out)])
    assert whole.exit_code == EXIT_DONE
    assert (out / "laid.py").read_text(encoding="utf-8") == done.stdout


def test_as_written_shows_a_method_as_it_stands_in_its_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "class A:\n\n    @staticmethod\n\n    def f(self):\n\n        return 1\n"
    (tmp_path / "holds_a_method.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    done = CliRunner().invoke(depyf, ["decompile", "--as-written", "holds_a_method:A.f"])
    assert done.exit_code == EXIT_DONE, done.output
    assert done.stdout == text.partition("\n\n")[2]
    done = CliRunner().invoke(depyf, ["decompile", "--as-written", "holds_a_method:A"])
    assert done.stdout == text


def test_as_written_says_of_a_function_without_a_module_that_it_is_not_laid_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "space = {}\nexec('def made(x):\\n\\n    return x', space)\nmade = space['made']\n"
    (tmp_path / "makes_a_function.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    done = CliRunner().invoke(depyf, ["decompile", "--as-written", "makes_a_function:made"])
    assert done.exit_code == EXIT_DONE, done.output
    assert done.stdout == "def made(x):\n    return x\n"
    assert "makes_a_function:made: its module is unknown" in done.stderr


@pytest.mark.parametrize("option", [["--no-prove"], ["--show", "tree"], ["--stop-after", "exits"]])
def test_as_written_goes_with_no_other_form(module: Path, option: list[str]) -> None:
    done = CliRunner().invoke(depyf, ["decompile", "--as-written", str(module), *option])
    assert done.exit_code == EXIT_USAGE
    assert "--as-written" in done.stderr


def test_names_by_use_are_listed_at_the_head(module: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text("def f(path):\n    with open(path) as _0x1:\n        return _0x1.read()\n", encoding="utf-8")
    done = CliRunner().invoke(depyf, ["decompile", str(path), "--names-by-use"])
    assert done.exit_code == EXIT_DONE and "EXACT" in done.stderr
    assert "#   f.file: '_0x1'\n" in done.stdout and "with open(path) as file:" in done.stdout
    refused = CliRunner().invoke(depyf, ["decompile", str(tmp_path), "-o", str(tmp_path / "o"), "--names-by-use"])
    assert refused.exit_code == EXIT_USAGE
