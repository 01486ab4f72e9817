"""A class has the attributes that its body was written to give it, and no others."""

from __future__ import annotations

import pytest

from depyf.bytecode.reader import read
from depyf.decompiler.module import module_source
from depyf.decompiler.passes.class_temps import unbind_class_temps
from tests.decompiler.parsed import parsed, shown
from tests.decompiler.test_forms import code_of

CLASS, MODULE, FUNCTION = map(code_of, ("class A: x = 1", "x = 1", "def f(a): pass"))
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


@pytest.mark.parametrize(
    "source",
    ["v1 = a", "v1 += a", "for v1 in a: pass", "with a as v1: pass", "a, v1 = b", "if a: v1 = b"],
)
def test_what_binds_a_temporary(source: str) -> None:
    body = parsed(source)
    assert shown(unbind_class_temps(body, CLASS)) == shown(body) + "v1 = None\ndel v1\n"
    assert unbind_class_temps(body, MODULE) == unbind_class_temps(body, FUNCTION) == body


def test_what_binds_none() -> None:
    body = parsed("a = b; a += v1; b = v1")
    assert unbind_class_temps(body, CLASS) == body
