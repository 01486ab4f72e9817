"""What a module imported, read off the calls of one of its functions."""

from __future__ import annotations

import pytest

from depyf.bytecode.listings import Listings
from depyf.verify.imports import imported_names
from tests import interpreters
from tests.bytecode.listings import compiled, inner

FUNCTION = """
def f(a):
    b.g(a.h(c), d.e(1, k=a) if a else 2, *a)
    return c(d.i, [j.l(a) for a in a])
"""
SINCE_IMPORTS_COUNT = [version for version in interpreters.VERSIONS if version >= (3, 11)]


@pytest.mark.parametrize("version", SINCE_IMPORTS_COUNT, ids=interpreters.label)
def test_a_plain_call_of_an_attribute_shows_an_import(version: tuple[int, int]) -> None:
    with_imports = inner(compiled("import d, j" + FUNCTION, version), "f")
    without = inner(compiled(FUNCTION, version), "f")
    assert imported_names(with_imports, Listings()) == ["d", "j"]
    assert imported_names(without, Listings()) == []

LOCAL = """
def f(a):
    import d
    d.e(a)
    a.h()
"""


@pytest.mark.parametrize("version", SINCE_IMPORTS_COUNT, ids=interpreters.label)
def test_so_does_a_local_variable_of_the_name(version: tuple[int, int]) -> None:
    with_imports = inner(compiled("import d" + LOCAL, version), "f")
    assert imported_names(inner(compiled(LOCAL, version), "f"), Listings()) == []
    assert imported_names(with_imports, Listings()) == ["d"]
