"""Modules compiled with -O and -OO: without assertions, without docstrings."""

from __future__ import annotations

import pytest

from tests import interpreters
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
