"""The code of modules and classes, given to the functions that take code objects."""

from __future__ import annotations

import types

import pytest

import depyf
from depyf.api import decompile_module
from depyf.verify.level import Level

MODULE = "import os\nfrom math import *\nX = 1\n\n\nclass K:\n    a = X\n\n    def f(self):\n        return self.a\n"


def inner(code: types.CodeType) -> types.CodeType:
    """Return the first code object inside another."""
    return next(const for const in code.co_consts if isinstance(const, types.CodeType))


def test_a_modules_code_is_written_as_a_module() -> None:
    assert depyf.decompile(compile(MODULE, "m.py", "exec")) == MODULE


def test_a_class_body_is_written_as_a_class() -> None:
    text = depyf.decompile(inner(compile(MODULE, "m.py", "exec")))
    assert text == "class K:\n    a = X\n\n    def f(self):\n        return self.a\n"


def test_a_function_that_binds_the_names_of_a_class_body_stays_a_function() -> None:
    source = "def f():\n    global __module__, __qualname__\n    __module__ = __qualname__ = 1\n"
    function = inner(compile(source, "m.py", "exec"))
    assert depyf.decompile(function).startswith("def f():\n    global ")


def test_a_live_modules_code_is_proven() -> None:
    result = decompile_module(compile(MODULE, "m.py", "exec"))
    assert (result.source, result.level) == (MODULE, Level.EXACT)


def test_the_code_of_a_function_is_no_module() -> None:
    with pytest.raises(TypeError, match="decompile_code takes"):
        decompile_module(inner(compile("def f(): pass", "m.py", "exec")))
