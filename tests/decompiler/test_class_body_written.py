"""The body of a class, without what the compiler adds: text in, text out."""

from __future__ import annotations

import ast

import pytest

from depyf.bytecode.reader import read
from depyf.decompiler.passes.class_body import class_body

CODE = read(compile("pass", "<test>", "exec"))
LEADING = "__module__ = __name__\n__qualname__ = 'C'\n"
GIVEN = {
    LEADING: "pass",
    f"{LEADING}return": "pass",
    f"{LEADING}return\nx = 1": "return\nx = 1",
    f"{LEADING}x = 1\nreturn": "x = 1",
    f"{LEADING}__firstlineno__ = 1\n__type_params__ = a\n__classdict__ = b\nx = 1": "x = 1",
    f"{LEADING}__classdict__ = b\n__firstlineno__ = 1": "__firstlineno__ = 1",
    f"{LEADING}__module__ = 1": "__module__ = 1",
    f"{LEADING}__qualname__ = 1": "__qualname__ = 1",
    "__qualname__ = 'C'\n__module__ = 1": "__module__ = 1",
    "__module__ = a = 1": "__module__ = a = 1",
    "o.__module__ = 1": "o.__module__ = 1",
    "x = 1\n__module__ = __name__": "x = 1\n__module__ = __name__",
    f"{LEADING}__doc__ = 'text'\nx = 1": "'text'\nx = 1",
    f"{LEADING}__doc__ = 'text'": "'text'",
    f"{LEADING}__doc__ = 1": "__doc__ = 1",
    f"{LEADING}__doc__ = a": "__doc__ = a",
    f"{LEADING}__doc__ = a = 'text'": "__doc__ = a = 'text'",
    f"{LEADING}docs = 'text'": "docs = 'text'",
    f"{LEADING}x = 1\n__doc__ = 'text'": "x = 1\n__doc__ = 'text'",
    f"{LEADING}__doc__ += 'text'": "__doc__ += 'text'",
    f"{LEADING}__doc__: str = 'text'": "__doc__: str = 'text'",
    f"global a\n{LEADING}x = 1": "global a\nx = 1",
    f"nonlocal a\n{LEADING}__doc__ = 'text'\nx = 1": "'text'\nnonlocal a\nx = 1",
    f"{LEADING}x = 1\nglobal a": "global a\nx = 1",
    "return": "pass",
    "": "pass",
}


@pytest.mark.parametrize("text", GIVEN)
def test_a_class(text: str) -> None:
    tree = ast.Module(class_body(CODE, ast.parse(text).body), [])
    assert ast.unparse(ast.fix_missing_locations(tree)).replace('"""', "'") == GIVEN[text]
