"""What a page folds away: heads of modules and docstrings, and nothing that computes."""

from __future__ import annotations

import ast
import inspect
import json.decoder
from types import ModuleType

import pytest

from depyf.views import folds as module
from depyf.views.folds import Fold, folds

KERNELS = """\
# AOT ID: ['0_inference']
from ctypes import c_void_p
import torch
from a import (
    b,
)

aten = torch.ops.aten
async_compile = AsyncCompile()


cpp_fused_0 = async_compile.cpp_pybinding(['const float*'], r'''
#include <a.h>
case 1:
  one();
''')

async_compile.wait(globals())
"""

DOCUMENTED = '''\
# f, toy.py:4
def f(a,
      b):  # a comment
    r"""Return one.

    More "words" of it:
    \\"\\"\\" and
    """
    x = a
'''


def test_the_head_of_a_module_is_folded_up_to_its_first_kernel() -> None:
    assert folds(KERNELS) == [Fold(3, 9, "7 more lines of imports and names")]


def test_a_docstring_is_folded_but_for_its_first_line() -> None:
    assert folds(DOCUMENTED) == [Fold(5, 8, "4 more lines of the docstring")]


def test_a_function_begins_with_its_code_and_not_with_its_parameters() -> None:
    reads = [f"    weight_{number} = parameters_{number}['weight']" for number in range(60)]
    text = "\n".join(["# f", "def f(self, x):", *reads, "    return __compiled_fn_1(weight_0, x)[0]", ""])
    assert folds(text) == [Fold(4, 62, "59 more lines that read modules and parameters")]
    assert folds("\n".join(["def f(self, x):", *reads[:7], "    return x"])) == []
    calls = [read.replace("['weight']", "('weight')") for read in reads]
    assert folds("\n".join(["def f(self, x):", *calls])) == []
    assert folds("\n".join(["def f(self, x):", "    y = x + 1", *reads])) == []


def test_the_names_of_a_full_code_are_folded() -> None:
    text = "import torch\n\n# Names that only the live process can give:\n#   A\n#   B\n#   C\n\n\ndef f(): ...\n"
    assert folds(text) == [Fold(4, 6, "3 more lines of names")]


def test_three_lines_of_a_header_stay() -> None:
    assert folds("# a\n# b\n# c\n# d\n# e\n# f\nx = 1\n") == [Fold(4, 6, "3 more lines of the header")]
    assert folds("# a\n# b\n# c\n# d\n# e\nx = 1\n") == []


@pytest.mark.parametrize(
    "text",
    [
        'def f(a):\n    """Return one."""\n    x = """\n\n\n\n"""\n    return x\n',
        "import a\nimport b\n\ndef f():\n    import c\n    import d\n    import e\n    import f\n",
        "x = 1\nimport a\nimport b\nimport c\nimport d\n",
        'def f(a):\n    """Never closed.\n\n\n\n    return a\n',
        'def f(a):\n    """One\n    or two."""\n    return a\n',
    ],
    ids=["a string that is a value", "imports of a function", "a module that computes first", "never closed", "short"],
)
def test_what_computes_is_not_folded(text: str) -> None:
    assert folds(text) == []


@pytest.mark.parametrize("library", [json.decoder, inspect, ast])
def test_folded_lines_of_the_library_are_docstrings_imports_and_names(library: ModuleType) -> None:
    source = inspect.getsource(library)
    all_folds = folds(source)
    docstrings, named = set(), set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                docstrings |= {(first.lineno + 1, first.end_lineno)}
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Assign):
            named |= set(range(node.lineno, (node.end_lineno or 0) + 1))
    all_folds = [fold for fold in all_folds if "header" not in fold.words]
    docstring_folds = {(fold.first, fold.last) for fold in all_folds if "docstring" in fold.words}
    assert docstring_folds == {(first, last) for first, last in docstrings if (last or 0) - first + 1 >= module.FEWEST}
    rows = source.split("\n")
    for fold in (fold for fold in all_folds if "imports" in fold.words):
        others = [rows[number - 1] for number in range(fold.first, fold.last + 1) if number not in named]
        assert all(row.startswith("#") for row in others if row)
