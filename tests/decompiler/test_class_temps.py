"""A class has the attributes that its body was written to give it, and no others."""

from __future__ import annotations

import pytest

from depyf.bytecode.reader import read
from depyf.decompiler.module import module_source

PLAIN = "class C:\n    x = 1\n    y = [x for x in (x, 2)]\n"
BRANCHES = """
class C:
    x = 1
    while x:
        if x > 2:
            z = 2
            break
        x += 1
    with open(__file__) as file:
        w = 5
    def f(self):
        return self.w
"""


def attributes(source: str) -> set[str]:
    """Return the names of the class that a module defines, those aside that every class has."""
    namespace: dict[str, object] = {"__name__": "module", "__file__": __file__}
    exec(compile(source, "<module>", "exec"), namespace)
    return set(vars(namespace["C"])) - {"__firstlineno__", "__static_attributes__"}  # type: ignore[arg-type]


def decompiled(source: str, without: frozenset[str]) -> str:
    """Return the source of a module's code, written without some passes."""
    return module_source(read(compile(source, "<module>", "exec")), without=without)


def test_a_body_without_temporaries_stays() -> None:
    assert "del" not in decompiled(PLAIN, frozenset())


@pytest.mark.parametrize("source", [PLAIN, BRANCHES])
def test_what_a_dispatching_body_needs_is_no_attribute(source: str) -> None:
    text = decompiled(source, frozenset({"build"}))
    assert attributes(text) == attributes(source)


def test_it_would_be_one() -> None:
    text = decompiled(BRANCHES, frozenset({"build", "class-temps"}))
    assert attributes(text) > attributes(BRANCHES)
