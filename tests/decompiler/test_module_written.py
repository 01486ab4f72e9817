"""The statements of a module, complete: text in, text out."""

from __future__ import annotations

import ast
import collections
import types

import pytest

from depyf.bytecode.known import ENTER, THROW
from depyf.bytecode.known_groups import UNTRACE
from depyf.bytecode.reader import read
from depyf.decompiler.passes.body import Body
from depyf.decompiler.passes.module import module_body
from depyf.errors import DecompilationError

CODE = read(compile("pass", "<test>", "exec"))


def written(text: str, **objects: object) -> str:
    tree = ast.Module(module_body(Body(CODE, ast.parse(text).body), objects), [])
    return ast.unparse(ast.fix_missing_locations(tree))


DICT = "from collections import OrderedDict as made"
INDENTED = "__doc__ = 'text\\n   more'"
"""A text that the compiler of 3.13 and newer would clean."""
GIVEN = {
    "": "pass",
    "return": "pass",
    "a\nreturn": "a",
    "return\na": "return\na",
    "__doc__ = 'text'": "'text'",
    "__doc__ = 'text'\na": "'text'\na",
    "a\n__doc__ = 'text'": "a\n__doc__ = 'text'",
    "__doc__ = 1": "__doc__ = 1",
    "__doc__ = a = 'text'": "__doc__ = a = 'text'",
    "__docs__ = 'text'": "__docs__ = 'text'",
    INDENTED: "'text\n   more'" if CODE.version < (3, 13) else INDENTED,
    "global a\na": "global a\na",
    "a\nglobal b": "global b\na",
    "global a\n__doc__ = 'text'\nb": "'text'\nglobal a\nb",
    "global a\nfrom __future__ import b\nc": "from __future__ import b\nglobal a\nc",
}


@pytest.mark.parametrize("text", GIVEN)
def test_a_module(text: str) -> None:
    assert written(text).replace('"""', "'") == GIVEN[text]


BOUND = {
    "": DICT,
    "a": f"{DICT}\na",
    "'text'\na": f"'text'\n{DICT}\na",
    "'text'\n'more'\na": f"'text'\n{DICT}\n'more'\na",
    "f()\na": f"{DICT}\nf()\na",
    "'text'\nfrom __future__ import b\nfrom __future__ import c\na": (
        f"'text'\nfrom __future__ import b\nfrom __future__ import c\n{DICT}\na"
    ),
    "from __future__ import b\n'text'": f"from __future__ import b\n{DICT}\n'text'",
    "from other import b": f"{DICT}\nfrom other import b",
    "import __future__": f"{DICT}\nimport __future__",
    "global a\n__doc__ = 'text'": f"'text'\n{DICT}\nglobal a",
}


@pytest.mark.parametrize("text", BOUND)
def test_placeholders_are_bound_first(text: str) -> None:
    assert written(text, made=collections.OrderedDict).replace('"""', "'") == BOUND[text]


@pytest.mark.parametrize(
    ("value", "module", "name"),
    [(THROW, "known", "THROW"), (ENTER, "known", "ENTER"), (UNTRACE, "known_groups", "UNTRACE")],
)
def test_functions_for_operations_come_from_depyf(value: object, module: str, name: str) -> None:
    assert written("a", made=value) == f"from depyf.bytecode.{module} import {name} as made\na"


def test_constant_sets_are_made() -> None:
    assert written("a", items=frozenset({1})) == "items = frozenset({1})\na"


@pytest.mark.parametrize("value", [None, 1.5, types.SimpleNamespace(__module__="collections", __name__="deque"), [1]])
def test_what_no_import_and_no_literal_gives(value: object) -> None:
    with pytest.raises(DecompilationError):
        written("a", made=value)
