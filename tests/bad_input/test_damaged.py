"""Damaged and hostile input: a result or one DecompilationError, in bounded time and memory, and nothing executed."""

from __future__ import annotations

import importlib.util
import marshal
import os
import sys
import time
import types
from pathlib import Path

import pytest

from depyf.api import decompile_code, decompile_module_pyc, decompile_pyc, load_pyc
from depyf.bytecode.versions.known import FACTS
from depyf.errors import DecompilationError
from tests.quality.bad_input.__main__ import MEMORY, SECONDS, run_all
from tests.quality.bad_input.cases import REFUSED, Cases, peak, reset_peak
from tests.quality.bad_input.damage import DAMAGES, damaged, damaged_code
from tests.quality.bad_input.seeds import seeds

HEADER = importlib.util.MAGIC_NUMBER + bytes(12)
MODULE = compile("x = 0", "m.py", "exec")
UP = compile("from .a import b", "m.py", "exec")
OUTER = compile("def g():\n    return (lambda: 1), (lambda: 1)\n", "m.py", "exec")


def holding(const: object) -> bytes:
    """Return a file whose module has this constant in the place of 0."""
    return HEADER + marshal.dumps(MODULE.replace(co_consts=(const, *MODULE.co_consts[1:])))


def refusal(source: bytes | Path) -> str:
    """Return why a file is refused."""
    with pytest.raises(DecompilationError) as caught:
        decompile_pyc(source)
    return str(caught.value)


def test_there_is_a_seed_of_each_version() -> None:
    codes = [load_pyc(data) for data in seeds()]
    assert sorted(code.version for code in codes) == sorted(FACTS)
    assert all({"A", "flow", "generator", "coroutine"} <= set(code.names) for code in codes)


@pytest.mark.slow
def test_thousands_of_damaged_files_and_code_objects() -> None:
    run_outcome = run_all(seed=20261121, count=3000, jobs=2)
    assert not run_outcome.broken, "\n".join(run_outcome.broken)
    assert run_outcome.outcomes["result"] > 300
    assert run_outcome.outcomes["refused"] > 300
    assert run_outcome.slowest[0] < SECONDS
    assert run_outcome.largest[0] < MEMORY


def test_a_case_is_the_same_whenever_it_is_made() -> None:
    cases = Cases(3)
    assert damaged(10, 3, cases.files) == damaged(10, 3, cases.files)
    assert damaged(10, 3, cases.files) != damaged(10, 4, cases.files)
    damaged_codes = [damaged_code(number, 3, cases.codes) for number in range(40)]
    assert any(isinstance(code, types.CodeType) for code in damaged_codes)
    assert len({damage.__name__ for damage in DAMAGES}) == 12


def test_files_that_are_none(tmp_path: Path) -> None:
    empty = tmp_path / "empty.pyc"
    empty.write_bytes(b"")
    assert refusal(empty) == f"{empty}: this is no .pyc file: the magic number is missing"
    assert refusal(tmp_path) == f"{tmp_path}: the file cannot be read: Is a directory"
    assert "the file cannot be read: No such file" in refusal(tmp_path / "missing.pyc")
    assert "PyPy" in refusal((336).to_bytes(2, "little") + b"\r\n" + bytes(20))
    assert "another interpreter" in refusal((9999).to_bytes(2, "little") + b"\r\n" + bytes(20))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read all files")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "secret.pyc"
    path.write_bytes(holding(1))
    path.chmod(0)
    assert "the file cannot be read: Permission denied" in refusal(path)


def shared_tuple(levels: int) -> object:
    value: object = (1,)
    for _ in range(levels):
        value = (value, value)
    return value


def nested_tuple(levels: int) -> object:
    value: object = ()
    for _ in range(levels):
        value = (value,)
    return value


def shared_code(levels: int) -> types.CodeType:
    """Return a function that holds one function twice, which holds one function twice, and so on."""
    function = next(const for const in OUTER.co_consts if isinstance(const, types.CodeType))
    inner = next(const for const in function.co_consts if isinstance(const, types.CodeType))
    for _ in range(levels):
        consts = tuple(inner if isinstance(const, types.CodeType) else const for const in function.co_consts)
        inner = function.replace(co_consts=consts, co_name="<lambda>")
    return inner


def module_of(function: types.CodeType) -> bytes:
    """Return a file whose module makes a function of this code."""
    consts = tuple(function if isinstance(const, types.CodeType) else const for const in OUTER.co_consts)
    return HEADER + marshal.dumps(OUTER.replace(co_consts=consts))


HOSTILE = {
    "huge number": holding(1 << 100_000),
    "huge negative number": holding(-(1 << 100_000)),
    "long string": holding("a" * 1_000_000),
    "tuple of tuples": holding(nested_tuple(1900)),
    "tuples that unfold": holding(shared_tuple(30)),
    "tuples that unfold, few": holding(shared_tuple(12)),
    "code that unfolds": module_of(shared_code(40)),
    "code that unfolds, few": module_of(shared_code(5)),
    "a count of 2 ** 31 - 1": HEADER + b"(\xff\xff\xff\x7f",
    "a count below zero": HEADER + b"(\xff\xff\xff\xff",
    "a string of 2 ** 31 - 1": HEADER + b"s\xff\xff\xff\x7f",
    "a number of 2 ** 31 - 1 digits": HEADER + b"l\xff\xff\xff\x7f",
    "containers that never end": HEADER + b"(\x01\x00\x00\x00" * 100_000,
    "lists that never end": HEADER + b"[\x01\x00\x00\x00" * 100_000,
    "code in code in code": HEADER + (b"\xe3" + bytes(20)) * 5000,
    "a reference to itself": HEADER + b"\xa9\x01r\x00\x00\x00\x00",
    "a reference to nothing": HEADER + b"r\xff\xff\xff\x7f",
    "a set of lists": HEADER + b"<\x01\x00\x00\x00[\x00\x00\x00\x00",
    "a dictionary with a list as a key": HEADER + b"{[\x00\x00\x00\x00N0",
    "a name that is code": HEADER + marshal.dumps(MODULE.replace(co_names=("__import__('os')",))),
    "a name that is a keyword": HEADER + marshal.dumps(MODULE.replace(co_names=("class",))),
    "a name with an end of line": HEADER + marshal.dumps(MODULE.replace(co_names=("a\nimport os",))),
    "a name with a surrogate": HEADER + marshal.dumps(MODULE.replace(co_names=("\ud800",))),
    "an import from very far up": HEADER + marshal.dumps(UP.replace(co_consts=(1 << 30, *UP.co_consts[1:]))),
    "a file name with quotes": HEADER + marshal.dumps(MODULE.replace(co_filename='a\n"""\0')),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_cost_little(name: str) -> None:
    before = reset_peak()
    start = time.process_time()
    try:
        decompiled = decompile_module_pyc(HOSTILE[name])
        assert isinstance(decompiled.source, str)
    except DecompilationError as error:
        assert "a fault of depyf's own" not in str(error) or name == "code that unfolds, few"
    assert time.process_time() - start < 2
    assert peak() - before < MEMORY


def test_nothing_is_executed(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    text = f"open({str(mark)!r}, 'w')\nimport no_such_module_x\nclass A:\n    open({str(mark)!r}, 'w')\n"
    assert "no_such_module_x" in decompile_pyc(HEADER + marshal.dumps(compile(text, "m.py", "exec")))
    assert not mark.exists()
    assert "no_such_module_x" not in sys.modules


def test_a_live_code_object_that_no_interpreter_could_run() -> None:
    for changes in ({"co_code": bytes([255, 0]) * 8}, {"co_names": ()}, {"co_consts": ()}):
        try:
            code = MODULE.replace(**changes)
        except ValueError:
            continue
        with pytest.raises(DecompilationError):
            decompile_code(code)


def test_a_function_of_parts_that_there_are_not() -> None:
    # SET_FUNCTION_ATTRIBUTE with a flag that is none, in a file of 3.13.
    cost = Cases(77).run(3738)
    assert (cost.outcome, cost.detail.rpartition(" ")[2]) == (REFUSED, "function"), cost
