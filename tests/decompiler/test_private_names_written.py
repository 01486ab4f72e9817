"""Mangled names become what the class wrote: text in, text out."""

from __future__ import annotations

import ast

import pytest

from depyf.bytecode.code import Code
from depyf.bytecode.reader import read
from depyf.decompiler.passes.private_names import write_private_names
from tests import interpreters
from tests.bytecode.listings import compiled

CLASS = "class {}:\n x = 1\n def f(self): return self.__a, self.__b\n"


def class_code(source: str) -> Code:
    module = read(compile(source, "<test>", "exec"))
    return next(const for const in module.consts if isinstance(const, Code))


def written(text: str, source: str = CLASS.format("C")) -> str:
    tree = ast.parse(text)
    write_private_names(tree.body, class_code(source))
    return ast.unparse(tree)


NAMES = {
    "_C__a": "__a",
    "o._C__a": "o.__a",
    "_C__a__": "_C__a__",
    "_C_a": "_C_a",
    "_D__a": "_D__a",
    "o.__a": "o.__a",
    "f(_C__a=_C__b)": "f(_C__a=__b)",
    "del _C__a, o._C__b": "del __a, o.__b",
    "def _C__f(_C__a, *_C__b, _C__c=1, **_C__d):\n    _C__a": "def _C__f(__a, *__b, __c=1, **__d):\n    __a",
    "async def _C__f():\n    pass": "async def _C__f():\n    pass",
    "try:\n    pass\nexcept E as _C__a:\n    pass": "try:\n    pass\nexcept E as __a:\n    pass",
    "try:\n    pass\nexcept E:\n    pass": "try:\n    pass\nexcept E:\n    pass",
    "def f():\n    global _C__a, b\n    nonlocal _C__c": "def f():\n    global __a, b\n    nonlocal __c",
    "match a:\n    case [_C__a, *_C__b] | {1: _, **_C__c}:\n        pass": (
        "match a:\n    case [__a, *__b] | {1: _, **__c}:\n        pass"
    ),
    "class _C__D(_C__E, key=_C__a):\n    _C__b = 1": "class _C__D(__E, key=__a):\n    _C__b = 1",
    "@_C__a\nclass D:\n    _C__b": "@__a\nclass D:\n    _C__b",
}


@pytest.mark.parametrize("text", NAMES)
def test_a_mangled_name_is_what_was_written(text: str) -> None:
    assert written(text) == NAMES[text]


HOLDING = {
    "a name": "class C:\n __a = 1\n",
    "a variable of a method": "class C:\n def f(self):\n  __a = 1\n",
    "a variable of a function in a method": "class C:\n def f(self):\n  def g(): return self.__a\n",
    "a cell": "class C:\n def f(self):\n  __a = 1\n  return lambda: __a\n",
    "a text of several, as the attributes of patterns are": "class C:\n a = ('b', '_C__a')\n",
    "underscores before the name": "class __C:\n __a = 1\n",
}


@pytest.mark.parametrize("what", HOLDING)
def test_what_shows_that_names_are_mangled(what: str) -> None:
    assert written("_C__a\n_C__z", HOLDING[what]) == "__a\n__z"


NOT_HOLDING = {
    "no such name": "class C:\n a = 1\n",
    "a name of another class": "class C:\n _D__a = 1\n",
    "a name with underscores behind": "class C:\n _C__a__ = 1\n",
    "one underscore": "class C:\n _C_a = 1\n",
    "a text": "class C:\n a = '_C__a'\n",
    "texts": "class C:\n a = ('_D__a', 'b')\n",
    "numbers": "class C:\n a = (1, 2)\n",
    "no name": "class _:\n __a = 1\n",
    "underscores alone": "class __:\n ____a = 1\n",
}


@pytest.mark.parametrize("what", NOT_HOLDING)
def test_what_does_not(what: str) -> None:
    assert written("_C__a\n___a", NOT_HOLDING[what]) == "_C__a\n___a"


def test_what_the_class_lists_as_static_was_written_so() -> None:
    source = "class C:\n x = 1\n def f(self):\n  self._C__a = self.__b\n"
    interpreters.need((3, 13))
    module = compiled(source, (3, 13))
    code = next(const for const in module.consts if isinstance(const, Code))
    tree = ast.parse("_C__a\n_C__b")
    write_private_names(tree.body, code)
    assert ast.unparse(tree) == "_C__a\n__b"
