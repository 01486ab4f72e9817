"""Constants of every kind, there and back on every version: the same values, down to the sign of a zero."""

from __future__ import annotations

import types

import pytest

from depyf.bytecode.code import Code
from depyf.bytecode.normalise import normalise
from depyf.bytecode.reader import read
from depyf.decompiler.emit.constants import source
from depyf.decompiler.module import decompile_module
from depyf.verify.compare import verify
from depyf.verify.level import Level
from tests import interpreters
from tests.bytecode.listings import compiled
from tests.decompiler.again import exact

every_version = pytest.mark.parametrize("version", interpreters.VERSIONS, ids=interpreters.label)

INFINITY = "1e309"
FLOATS = ["0.0", "-0.0", "1.5", "5e-324", "-1.7976931348623157e308", INFINITY, f"-{INFINITY}"]
NAN = [f"{INFINITY} - {INFINITY}", f"-({INFINITY} - {INFINITY})"]
COMPLEX = ["0j", "-0j", "2j", "-2j", "0 - 2j", "1 + 2j", "-1 - 2j", f"{INFINITY}j", f"1 - {INFINITY}j", "3.5 + 0j"]
SIGNED_ZEROS = ["(-1 + 0j) * 0j", "-((-1 + 0j) * 0j)", "-(0 - 1j)", "-(1 + 0j)", f"{INFINITY}j - {INFINITY}j"]
KINDS = {
    "integers": ["0", "-1", "2 ** 100", "-(2 ** 64)", "0x" + "f3" * 3000, "-0x" + "7" * 4001],
    "floats": [*FLOATS, *NAN],
    "complex numbers": [*COMPLEX, *SIGNED_ZEROS],
    "texts": [r"'\ud800'", r"'\udc80\ud834\x00'", r"'\'\"\\'", "'\\r\\n\\t'", r"'\u2028\x7f\x85\xa0'", r"'\U0001f40d'"],
    "bytes": [r"b'\x00\xff'", r"b'\'\"\\'", "b''"],
    "singletons": ["None", "True", "False", "...", "__debug__"],
    "tuples": ["()", "(1,)", "((1, (2, ('a', b'b'))), (), None)", "(-0.0, 0.0, 1, 1.0, True)", f"(-{INFINITY}j,)"],
}
"""Expressions that the compiler computes."""


@every_version
@pytest.mark.parametrize("kind", KINDS)
def test_constants_come_back(kind: str, version: tuple[int, int]) -> None:
    text = "".join(f"x = {expression}\ny = [{expression}, z]\n" for expression in KINDS[kind])
    assert _values(compiled(exact(text, version), version)) == _values(compiled(text, version))


@every_version
def test_frozensets_come_back_as_displays(version: tuple[int, int]) -> None:
    text = exact("x = y in {1, -0.0, 'a', (1, (2,))}\nfor z in {'b'}:\n    z\n", version)
    assert "in {'b'}" in text
    assert "frozenset" not in text


@every_version
def test_deep_tuples_come_back(version: tuple[int, int]) -> None:
    exact(f"x = {'(' * 80}1{',)' * 80}\n", version)


def _values(code: Code) -> list[str]:
    """Return each constant that is used, as a text that tells zeros and kinds of numbers apart."""
    held = [instruction.arg for instruction in normalise(code).instructions if instruction.op == "CONST"]
    return [hex(value) if type(value) is int else repr(value) for value in held]


PARTS = (0.0, -0.0, 1.0, -2.5, float("inf"), -float("inf"), float("nan"))


@pytest.mark.parametrize("imaginary", PARTS)
@pytest.mark.parametrize("real", PARTS)
def test_every_complex_number_is_written_so_that_it_comes_back(real: float, imaginary: float) -> None:
    value = complex(real, imaginary)
    again = eval(source(value))
    assert (repr(again.real), repr(again.imag)) == (repr(real), repr(imaginary))


def test_integers_too_long_to_print_are_compared_all_the_same() -> None:
    first, other = (read(compile(f"x = 0x{digit * 6000}", "file.py", "exec")) for digit in "ef")
    assert "builtins.int" in verify(first, other).reason
    assert verify(first, first).level is Level.EXACT


COLLIDING = """
def f(b):
    a = {502, 503, 504, 599}
    assert set(b) == {(10, 1), (20, 2), (30, 3), (40, 4)}
    return a, {-1, -4, -6, -2, -3, -5}, b in {8, 16, 0, 24}
"""


@pytest.mark.parametrize("version", interpreters.VERSIONS[2:], ids=interpreters.label)
def test_members_with_one_place_keep_their_order_in_files(version: tuple[int, int]) -> None:
    """Up to 3.13 the compiler fills a set twice; the reader of a file fills it once more."""
    exact(COLLIDING, version)


def test_members_with_one_place_keep_their_order_in_running_code() -> None:
    decompiled = decompile_module(read(compile(COLLIDING, "<test>", "exec")))
    assert decompiled.level is Level.EXACT
    constants, originals = (
        [list(members) for members in sets(compile(text, "", "exec"))] for text in (decompiled.source, COLLIDING)
    )
    assert constants == originals


def sets(code: types.CodeType) -> list[frozenset[object]]:
    """Return the constant sets of the function in a module."""
    inner = next(const for const in code.co_consts if isinstance(const, types.CodeType))
    return [const for const in inner.co_consts if isinstance(const, frozenset)]
