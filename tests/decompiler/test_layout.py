"""A text on the lines of its original: as it was written, but for comments and what no bytecode holds."""

from __future__ import annotations

import dataclasses
import sys
import textwrap
import traceback
import types

import pytest

from benchmarks.as_written.__main__ import compiled
from benchmarks.as_written.lines import Count, add
from depyf.api import decompile_module
from depyf.bytecode.code import Version
from depyf.bytecode.reader import read
from depyf.decompiler.module import module_source
from depyf.verify.level import Level

HAS_COLUMNS = sys.version_info >= (3, 11)
VERSIONS: tuple[Version, ...] = ((3, 8), (3, 10), (3, 11), (3, 12), (3, 13), (3, 14))

LINES_ALONE = {
    "blank lines": "a = 1\n\n\nb = 2\n",
    "a blank line at the head": "\n\na = 1\n",
    "statements side by side": "a = 1; b = 2\nc = f(a); d = g()\n",
    "a head with its block": "if a: b = 1\nc = 2\n",
    "a head with two statements": "while a: b = f(); c = g()\nd = 2\n",
    "else on a line of its own": "if a:\n    b = 1\n\nelse:\n    b = 2\n",
    "two arms on two lines": "if a: b = 1\nelse: b = 2\n",
    "a function on one line": "def f(a): return a\n\nb = f\n",
    "functions far apart": "def f(a):\n\n    b = a\n\n    return b.c\n\n\n\ndef g():\n    pass\n",
    "try": "try:\n    a = f()\n\nexcept OSError:\n    a = 1\n\n\nelse:\n    b = 2\nfinally:\n    c = 3\n",
    "a docstring": 'def f():\n    """Do it."""\n\n    return a\n',
    "a decorator": "@a\n\n@b\ndef f():\n    return 1\n",
    "a class": "class A(B):\n\n\n    x = 1\n\n    def f(self):\n        return self\n",
}
COLUMNS = {
    "a call over lines": "a = f(\n    b,\n    c,\n)\n",
    "an operation over lines": "a = (b +\n     c)\n",
    "a display over lines": "a = [\n    b,\n\n    c,\n]\n",
    "a condition over lines": "if (a and\n        b):\n    c = 1\n",
    "a call in a call": "f(a, g(\n    b), h(\n    c))\n",
}


def laid(source: str) -> str:
    """Return what `--as-written` makes of a source, which must be exact."""
    decompiled = decompile_module(read(compile(source, "m.py", "exec", dont_inherit=True)), as_written=True)
    assert decompiled.level is Level.EXACT, decompiled.reason
    return decompiled.source


@pytest.mark.parametrize("name", LINES_ALONE)
def test_statements_come_back_on_their_lines(name: str) -> None:
    assert laid(LINES_ALONE[name]) == LINES_ALONE[name]


@pytest.mark.skipif(not HAS_COLUMNS, reason="code of 3.10 and older knows no columns")
@pytest.mark.parametrize("name", COLUMNS)
def test_the_parts_of_a_statement_come_back_on_their_lines(name: str) -> None:
    source = COLUMNS[name]
    text = laid(source)
    assert lines_of(text) == lines_of(source)
    assert text.count("\n") <= source.count("\n")


def lines_of(source: str) -> list[list[int | None]]:
    """Return the lines of the instructions of a source's code objects."""
    work = [compile(source, "m.py", "exec", dont_inherit=True)]
    for code in work:
        work += [const for const in code.co_consts if isinstance(const, types.CodeType)]
    return [[line for _, _, line in code.co_lines()] for code in work]


def test_outside_of_brackets_a_line_goes_on_behind_a_backslash() -> None:
    if HAS_COLUMNS:
        assert laid("a = (b +\n     c)\n") == "a = b + \\\n     c\n"


def test_comments_leave_their_lines_empty() -> None:
    assert laid("# one\na = 1  # two\n# three\nb = 2\n") == "\na = 1\n\nb = 2\n"


def test_a_traceback_of_the_original_fits_the_text() -> None:
    source = "\n\ndef f(a):\n\n    b = a\n\n\n    return b / 0\n"
    for text in (source, laid(source)):
        space: dict[str, types.FunctionType] = {}
        exec(compile(text, "m.py", "exec"), space)
        with pytest.raises(ZeroDivisionError) as caught:
            space["f"](1)
        assert [frame.lineno for frame in traceback.extract_tb(caught.value.__traceback__)][-1] == 8


def test_code_without_lines_is_written_as_ever() -> None:
    code = read(compile("a = 1\n\n\nb = f(\n    a)\n", "m.py", "exec", dont_inherit=True))
    bare = dataclasses.replace(code, line_table=b"", first_line=1)
    assert decompile_module(bare, as_written=True).source == module_source(bare)


def test_lines_that_no_source_has_make_no_text_of_gigabytes() -> None:
    code = read(compile("a = 1\nb = 2\n", "m.py", "exec", dont_inherit=True))
    far = dataclasses.replace(code, first_line=1 << 30)
    assert decompile_module(far, as_written=True).source == "a = 1\nb = 2\n"


def test_lines_in_no_order_lose_nothing() -> None:
    code = read(compile("a = 1\nb = 2\nif a:\n    c = f(a,\n  b)\n", "m.py", "exec", dont_inherit=True))
    for first in (1, 500, 9000):
        for byte in range(0, len(code.line_table), 3):
            table = bytearray(code.line_table)
            table[byte] ^= 0x15
            other = dataclasses.replace(code, line_table=bytes(table), first_line=first)
            decompiled = decompile_module(other, as_written=True)
            assert decompiled.level is Level.EXACT
            compile(decompiled.source, "m.py", "exec")


PROGRAM = textwrap.dedent(
    '''
    """A module."""
    import os, sys


    class Box:
        """Holds."""

        def __init__(self, size, *, name=None):
            self.size = size; self.name = name

        @property
        def area(self):
            # squared

            return self.size ** 2


    def total(boxes):
        found = 0
        for box in boxes:

            try:
                found += box.area
            except AttributeError as error:
                raise TypeError(f"{box!r} is no box") from error
            finally:
                print(box)
        return found
    '''
)


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: f"3.{version[1]}")
def test_every_version_keeps_its_lines(version: Version) -> None:
    code = compiled(PROGRAM, version)
    if code is None:
        pytest.skip(f"no CPython {version[0]}.{version[1]} on this machine")
    decompiled = decompile_module(code, as_written=True)
    plain, again = compiled(module_source(code), version), compiled(decompiled.source, version)
    assert plain is not None and again is not None
    count = Count()
    add(code, plain, again, decompiled.level, count)
    assert decompiled.level is Level.EXACT
    assert count.whole == count.functions == 5, decompiled.source
