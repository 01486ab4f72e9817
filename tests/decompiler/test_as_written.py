"""The form of all statements of a code object that its locations show: the form that the code gives, and its source."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Listing
from depyf.bytecode.normalise import normalise
from depyf.decompiler.passes.source_form.as_written import write_as_written
from tests.decompiler.placing import as_compiled, plain
from tests.oracles import compiled

NEW, OLD = (3, 11), (3, 8)


def listing_of(source: str, version: tuple[int, int]) -> Listing:
    """Return the listing of the function or lambda that a source defines, or of the module."""
    module = compiled(source, version)
    return normalise(next((const for const in module.consts if isinstance(const, Code)), module))


def restored(form: str, source: str, listing: Listing, *, has_source: bool = True, has_conditions: bool = True) -> str:
    """Return what becomes of the body of a function with the locations of its source."""
    tree = as_compiled(form, source, has_columns=bool(listing.places))
    is_function = isinstance(tree[0], ast.FunctionDef)
    body = tree[0].body if isinstance(tree[0], ast.FunctionDef) else tree
    write_as_written(body, listing, listing.ops, has_source=has_source, has_conditions=has_conditions)
    return ast.unparse(ast.fix_missing_locations(ast.Module(tree if is_function else body, [])))


def given(form: str, source: str, version: tuple[int, int] = NEW, **facts: bool) -> str:
    return restored(form, source, listing_of(source, version), **facts)


@pytest.mark.parametrize(
    ("head", "width", "is_parted"),
    [
        ("", 77, True),
        ("def f(a):", 77, False),
        ("def f(a):", 73, True),
        ("def f(self):", 73, False),
        ("def f(cls, a):", 73, False),
        ("def f(a, self):", 73, True),
    ],
)
def test_code_with_lines_alone_has_room_for_tests_as_its_head_leaves(head: str, width: int, is_parted: bool) -> None:
    """A function is indented once, a method twice: two tests on two lines are one where a line has no room for it."""
    condition = "b" * (width - len("if  and c:"))
    margin = "    " if head else ""
    form = f"{head}\n{margin}if {condition} and c:\n{margin}    d()"
    source = f"{head}\n{margin}if {condition}:\n{margin}    if c:\n{margin}        d()"
    assert given(form, source, OLD) == plain(source if is_parted else form)
    assert given(form, source, OLD, has_source=False) == plain(form)


@pytest.mark.parametrize("end", ["", "\n    return", "\n    return None"])
def test_exits_are_as_locations_show(end: str) -> None:
    source = f"def f(a):\n    a(){end}"
    assert given("def f(a):\n    a()\n    return", source) == source
    assert given("def f(a):\n    a()", source) == source


def test_code_without_columns_keeps_its_exits() -> None:
    """Python 3.11 and later write code without columns when they run with `-X no_debug_ranges`."""
    form, source = "def f(a):\n    a()\n    return", "def f(a):\n    a()"
    listing = listing_of(source, NEW)
    bare = replace(listing, places=[None] * len(listing.places))
    assert restored(form, source, bare) == form


@pytest.mark.parametrize("has_conditions", [True, False])
def test_a_lambda_has_conditions(has_conditions: bool) -> None:
    form, source = "a and b and c and d", "lambda a, b, c, d: a and (b and c) and d"
    given_ = given(form, source, has_conditions=has_conditions)
    assert given_ == ("a and (b and c) and d" if has_conditions else form)
