"""What `benchmarks.as_written` counts as told apart by nothing in a code object."""

from __future__ import annotations

from benchmarks.as_written.undecided import undecided
from depyf.bytecode.code import Code
from depyf.bytecode.reader import read

SEARCHED = "def f(x):\n    return x in [a, b]\n"


def compiled(text: str) -> Code:
    return read(compile(text, "<text>", "exec", dont_inherit=True))


def found(written: str, laid: str) -> set[tuple[str, int]]:
    return undecided(written, compiled(written), laid, compiled(laid))


def test_another_tree_of_the_identical_code_is_told_apart_by_nothing() -> None:
    assert found(SEARCHED, SEARCHED.replace("[a, b]", "(a, b)")) == {("f", 0)}


def test_the_same_tree_is_not_counted() -> None:
    assert found(SEARCHED, SEARCHED) == set()


def test_a_column_tells_two_texts_apart() -> None:
    assert found(SEARCHED, "def f(x):\n    return x in  (a, b)\n") == set()


def test_a_nested_function_is_told_by_the_functions_around_it() -> None:
    inner = "def g():\n    def f(x):\n        return x in [a, b]\n    return f\n"
    assert found(inner, inner.replace("[a, b]", "(a, b)")) == {("g", 0), ("g.f", 0)}


def test_another_constant_is_no_identical_code() -> None:
    assert found("def f():\n    return 1\n", "def f():\n    return True\n") == set()
