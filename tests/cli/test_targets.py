"""How a name is found, and that finding it runs nothing that need not run."""

from __future__ import annotations

import ast
import types
from pathlib import Path

import pytest
from click.testing import CliRunner

from depyf.cli.commands import depyf
from depyf.cli.exit_codes import EXIT_DONE, EXIT_FAILED
from depyf.cli.locate import bodies, find_definition, find_module
from depyf.decompiler.definition import definitions

MODULE = '''
assert not __name__, "this module must not be run"

def double(x):
    def inner(y):
        return y
    return x * 2

class A:
    def method(self):
        return [x for x in self]

if double:
    def twice(x): return 1
else:
    def twice(x): return 2
'''
MAKES = '''
def make(n):
    def made(x):
        return x + n
    return made

made = make(3)
alias = make
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the path: `outer_x/__init__.py` and `outer_x/inner.py` must not run, `making_x.py` may."""
    folder = tmp_path / "outer_x"
    folder.mkdir()
    (folder / "__init__.py").write_text(MODULE, encoding="utf-8")
    (folder / "inner.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "making_x.py").write_text(MAKES, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["outer_x", "outer_x.inner"])
def test_a_module_is_decompiled_without_being_run(package: Path, name: str) -> None:
    done = CliRunner().invoke(depyf, ["decompile", name])
    assert done.exit_code == EXIT_DONE
    assert "def double(x):" in done.stdout
    assert f"{name}: EXACT" in done.stderr
    assert not list(package.rglob("__pycache__"))


@pytest.mark.parametrize(
    ("qualname", "first"),
    [
        ("double", "def double(x):"),
        ("double.inner", "def inner(y):"),
        ("double.<locals>.inner", "def inner(y):"),
        ("A.method", "def method(self):"),
    ],
)
def test_a_function_is_found_in_the_bytecode_of_its_module(package: Path, qualname: str, first: str) -> None:
    done = CliRunner().invoke(depyf, ["decompile", f"outer_x.inner:{qualname}"])
    assert done.exit_code == EXIT_DONE
    assert done.stdout.splitlines()[0] == first
    assert "imported" not in done.stderr


def test_which_of_two_functions_it_is_only_a_run_can_tell(package: Path) -> None:
    assert len(bodies(find_module("outer_x"), "twice")) == 2
    done = CliRunner().invoke(depyf, ["decompile", "outer_x:twice"])
    assert "this module must not be run" in done.stderr


@pytest.mark.parametrize("qualname", ["alias", "make.made"])
def test_a_function_that_the_module_makes(package: Path, qualname: str) -> None:
    done = CliRunner().invoke(depyf, ["decompile", f"making_x:{qualname}"])
    assert done.exit_code == EXIT_DONE
    assert ("the module was imported" in done.stderr) is (qualname == "alias")


def test_a_module_that_is_no_file_of_python(package: Path) -> None:
    for name in ("sys", "builtins:len"):
        done = CliRunner().invoke(depyf, ["decompile", name])
        assert done.exit_code == EXIT_FAILED
        assert "has no bytecode" in done.stderr


def test_os_path_is_the_module_that_stands_for_it() -> None:
    definition = find_definition("os.path", "join")
    assert isinstance(definition.value, types.CodeType)
    assert definition.value.co_filename.endswith(("posixpath.py", "ntpath.py", "posixpath>"))


def test_functions_with_type_parameters_stand_in_a_scope_of_their_own() -> None:
    inner = compile("def f(x): return x", "f", "exec").co_consts[0]
    outer = compile("pass", "m", "exec")
    scope = outer.replace(co_name="<generic parameters of f>", co_consts=(inner,))
    assert bodies(outer.replace(co_consts=(scope,)), "f") == [inner]


SHARED = """\
class Later:
    x = 1


def Later(a):
    return a + 2


def Class(a):
    return a


class Class:
    y = 3

    @property
    def z(self):
        return 1

    @z.setter
    def z(self, value):
        pass


def deep():

    class Inner:
        x = 1

    class Inner(Inner):
        y = 1

    def Inner():
        pass
    return Inner
"""


@pytest.mark.parametrize("name", ["Later", "Class"])
def test_of_a_function_and_a_class_of_one_name_the_one_is_printed_that_it_is_bound_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "sharing_x.py").write_text(SHARED, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    done = CliRunner().invoke(depyf, ["decompile", f"sharing_x:{name}"])
    assert done.exit_code == EXIT_DONE
    assert "the module was imported" in done.stderr
    shown = ast.parse(done.stdout).body
    assert [type(node) for node in shown] == [ast.FunctionDef if name == "Later" else ast.ClassDef]


def test_a_definition_that_always_runs_takes_the_name() -> None:
    body = ast.parse(SHARED).body
    assert [definition.lineno for definition in definitions(body, "Later")] == [5]
    assert [definition.name for definition in definitions(body, "Class.z")] == ["z", "z"]
    assert [type(definition) for definition in definitions(body, "deep.<locals>.Inner")] == [ast.FunctionDef]
    arms = ast.parse("if a:\n    def f(): pass\nelse:\n    class f: pass\n").body
    assert len(definitions(arms, "f")) == 2
    based = ast.parse("class A: pass\nclass A(A): pass\n").body
    assert len(definitions(based, "A")) == 2
