"""Names by use for stripped variables: only where no other code can see the names, and proven."""

from __future__ import annotations

import types

import pytest

from depyf.bytecode.code import Code
from depyf.bytecode.reader import read
from depyf.decompiler.module import decompile_module
from depyf.decompiler.stripped import decompilable, is_stripped
from depyf.verify.level import Level

SOURCE = '''def rows(path, limit=3):
    found = []
    for name in path:
        with open(name) as handle:
            number = len(handle.read())
        try:
            found.append(number)
        except OSError as problem:
            print(problem)
    return found
'''


def stripped(source: str, names: list[str], keeps: int = 0) -> Code:
    """Return a module whose functions have these names instead of their variables, after the first `keeps`."""

    def strip(code: types.CodeType) -> types.CodeType:
        count = len(code.co_varnames)
        new = (*code.co_varnames[:keeps], *(names * count)[: max(count - keeps, 0)])
        consts = tuple(strip(const) if isinstance(const, types.CodeType) else const for const in code.co_consts)
        return code.replace(co_varnames=new, co_consts=consts)

    return read(strip(compile(source, "m.py", "exec")))


def text(code: Code) -> str:
    """Return the proven text with names by use."""
    named, head = decompilable(code)
    decompiled = decompile_module(named)
    assert decompiled.level is Level.EXACT, decompiled.reason
    return head + decompiled.source


def test_variables_have_names_by_their_use() -> None:
    names = [f"_0x{number}" for number in range(2, 9)]
    source = text(stripped(SOURCE, names, keeps=2))
    assert "with open(item) as file:" in source and "except OSError as error:" in source
    assert "count = len(file.read())" in source and "return items" in source
    assert "#   rows.items: '_0x2'\n" in source


def test_the_name_of_a_parameter_stays_if_a_caller_can_use_it() -> None:
    assert "def rows(path, limit=3):" in text(stripped(SOURCE, [""], keeps=2))
    source = text(stripped(SOURCE, [""]))
    assert "def rows(argument, argument_2=3):" in source


@pytest.mark.parametrize("call", ["locals()", "eval('1')", "dir()"])
def test_a_function_that_asks_for_its_names_keeps_them(call: str) -> None:
    code = stripped(f"def f():\n    one = []\n    return {call}\n", ["_0x1"])
    assert decompilable(code) == (code, "")


def test_variables_of_closures_and_usual_names_stay() -> None:
    code = read(compile("def f():\n    _0x1 = []\n    usual = 1\n    return lambda: _0x1\n", "m.py", "exec"))
    assert decompilable(code) == (code, "")


def test_what_looks_stripped() -> None:
    assert all(map(is_stripped, ["_0x1f", "IlIl", "__3", "", "a b", "x"]))
    assert not any(map(is_stripped, ["size", "row_count", "self", "__class__", "file2"]))
