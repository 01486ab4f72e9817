"""Modules compiled with -O and -OO: without assertions, without docstrings."""

from __future__ import annotations

from pathlib import Path

import pytest

from depyf.api import decompile_pyc
from tests import interpreters
from tests.bytecode.listings import COMPILE
from tests.decompiler.again import exact

every_version = pytest.mark.parametrize("version", interpreters.VERSIONS, ids=interpreters.label)

SOURCE = '''
"""The module's text."""

X = 1


class C:
    """The class's text."""

    y: int = 2

    def f(self, a):
        """The method's text."""
        assert a, "message"
        if __debug__:
            print("debug")
        return a

    def only_text(self):
        """Nothing else."""

    def returns_text(self):
        return "no docstring"

    def asserts_alone(self, a):
        assert a


def raises(a):
    if not a:
        raise AssertionError("raised in any case")


def g(items):
    for item in items:
        assert item
    while __debug__ and items:
        items.pop()
    if not __debug__:
        return "fast"
    return lambda: "text"
'''


@every_version
def test_o_drops_assertions(version: tuple[int, int]) -> None:
    text = exact(SOURCE, version, 1)
    assert "assert a" not in text
    assert "The method's text." in text


@every_version
def test_oo_drops_docstrings_too(version: tuple[int, int]) -> None:
    text = exact(SOURCE, version, 2)
    assert "text." not in text
    assert text.count("'no docstring'") == 1
    assert "return 'no docstring'" in text


@every_version
def test_what_was_compiled_with_o_is_the_same_without(version: tuple[int, int]) -> None:
    text = exact(SOURCE, version, 2)
    assert exact(text, version, 0) == text


ONE_LINE = """
def f(a):
    if not a: raise AssertionError
    return a
"""


@every_version
@pytest.mark.parametrize("level", [1, 2])
def test_the_name_of_a_file_says_that_it_holds_no_assertions(
    tmp_path: Path, version: tuple[int, int], level: int
) -> None:
    source, target = tmp_path / "source.py", tmp_path / f"source.opt-{level}.pyc"
    source.write_text(ONE_LINE, encoding="utf-8")
    interpreters.run(interpreters.need(version), COMPILE, str(source), str(target), str(level))
    text = decompile_pyc(target)
    assert "raise AssertionError" in text
    assert "assert " not in text
