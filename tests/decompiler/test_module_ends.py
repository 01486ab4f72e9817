"""The ends of modules and class bodies, where there is no `return` and the compiler copies what is short."""

from __future__ import annotations

import pytest

from tests import interpreters
from tests.decompiler.again import exact

every_version = pytest.mark.parametrize("version", interpreters.VERSIONS, ids=interpreters.label)

AFTER_TRY = """
try:
    from a import *
except ImportError:
    from b import *
    c = 1
x = 1
"""
AFTER_LOOP = """
for a in b:
    if a:
        break
    try:
        a()
    except KeyError:
        print(a)
else:
    c = 2
del a
"""
IN_CLASS = """
class C:
    if a:
        b = 1
    elif c:
        try:
            b = 2
        except E:
            b = 3
    while d:
        if e:
            f()
    g = 4
"""
SAME_LINES_WRITTEN_TWICE = """
if a:
    b = 1
    c(d)
else:
    try:
        b = 2
    finally:
        c(d)
"""


@every_version
@pytest.mark.parametrize("source", [AFTER_TRY, AFTER_LOOP, IN_CLASS, SAME_LINES_WRITTEN_TWICE])
def test_no_return_is_left(source: str, version: tuple[int, int]) -> None:
    assert "return" not in exact(source, version)
