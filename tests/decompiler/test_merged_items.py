"""Items of dicts and arguments by name: what was merged by the compiler, and what was written as `**{...}`."""

from __future__ import annotations

import pytest

from tests import interpreters
from tests.decompiler.again import exact

every_version = pytest.mark.parametrize("version", interpreters.VERSIONS, ids=interpreters.label)

SOURCE = """
f(**{'b': 1}, **d)
f(*a, b=1, **{'c': 2})
f(*a, b=1, **{'class': 2})
f(*a, b=1, **{'c d': 2}, e=3)
f(b=1, **{**d, 'c': 2})
x = {**{'b': 1}, 'c': 2}
x = {**a, 'c': 2, **{'d': 1}}
x = {'c': 2, **{'d': 1, **a}}
x = {**{}, **a}
"""


@every_version
def test_merged_items_come_back(version: tuple[int, int]) -> None:
    exact(SOURCE, version)


@pytest.mark.parametrize("version", [version for version in interpreters.VERSIONS if version >= (3, 9)])
def test_named_arguments_in_a_display_come_back(version: tuple[int, int]) -> None:
    exact("f(a, **{'b': 1, 'c': 2})\n", version)


@every_version
def test_long_displays_come_back(version: tuple[int, int]) -> None:
    items = ", ".join(f"'k{number}': a{number}" for number in range(50))
    exact(f"x = {{{items}}}\ny = {{**z, {items}, **z}}\n", version)
