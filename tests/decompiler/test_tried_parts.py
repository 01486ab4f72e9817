"""The parts of a `try`: the form that the code gives, and the source that columns and lines show."""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.passes.source_form.arms import Arms
from depyf.decompiler.passes.source_form.columns import Columns
from depyf.decompiler.passes.source_form.forms import Block, rewrite
from tests.decompiler.placing import plain, written

CLAUSE = "except E:\n    g()\n"
PARTED = {
    "a return before the clauses": (
        f"try:\n    f()\n{CLAUSE}else:\n    return a",
        f"try:\n    f()\n    return a\n{CLAUSE}",
    ),
    "the first of two statements before the clauses": (
        f"try:\n    f()\n{CLAUSE}else:\n    a()\n    b()",
        f"try:\n    f()\n    a()\n{CLAUSE}else:\n    b()",
    ),
    "a statement behind the clauses": (
        f"try:\n    f()\n    a()\n{CLAUSE}",
        f"try:\n    f()\n{CLAUSE}else:\n    a()\n",
    ),
    "a statement behind what a clause without a type does": (
        "try:\n    f()\n    a()\nexcept:\n    g()",
        "try:\n    f()\nexcept:\n    g()\nelse:\n    a()",
    ),
}
STAYS = {
    "all in the body": f"try:\n    f()\n    a()\n{CLAUSE}",
    "all behind": f"try:\n    f()\n{CLAUSE}else:\n    a()",
}


def rewritten(body: list[ast.stmt], rule: str) -> None:
    """Apply one rule to the first statement, in place."""
    rewrite(Block(body, None), 0, (getattr(Arms(Columns(body), set()), rule),))


def parted(form: str, source: str) -> str:
    return written(lambda body: rewritten(body, "body"), form, source)


@pytest.mark.parametrize("case", PARTED)
def test_a_statement_belongs_to_the_part_in_which_it_stands(case: str) -> None:
    form, source = PARTED[case]
    assert parted(form, source) == plain(source) != plain(form)


@pytest.mark.parametrize("case", STAYS)
def test_a_statement_stays_where_it_stands(case: str) -> None:
    assert parted(STAYS[case], STAYS[case]) == plain(STAYS[case])


@pytest.mark.parametrize("source", ["x", "f()\na()", "E\nf()\na()"])
def test_the_body_keeps_a_statement(source: str) -> None:
    """Without the lines of the clauses nothing tells; all of a body does not stand behind them."""
    form = f"try:\n    f()\n    a()\n{CLAUSE}" if source != "x" else PARTED["a return before the clauses"][0]
    assert parted(form, source) == plain(form)


def test_what_has_an_else_has_no_other() -> None:
    form = f"try:\n    f()\n    a()\n{CLAUSE}else:\n    b()"
    assert parted(form, f"try:\n    f()\n{CLAUSE}else:\n    a()\n    b()") == plain(form)


# -- one statement with `finally` --------------------------------------------------------

NESTED = "try:\n    try:\n        f()\n    except E:\n        g()\nfinally:\n    h()"
ONE = f"try:\n    f()\n{CLAUSE}finally:\n    h()"


def joined(form: str, source: str) -> str:
    return written(lambda body: rewritten(body, "joined_try"), form, source)


def test_two_of_one_column_are_one() -> None:
    assert joined(NESTED, ONE) == plain(ONE)


@pytest.mark.parametrize(
    ("form", "source"),
    [
        (NESTED, NESTED),
        (NESTED, "x"),
        (NESTED.replace("f()", "f()\n        a()"), f"h()\n{NESTED}"),
        (NESTED.replace("finally", "    a()\nfinally"), ONE),
        (NESTED.replace("finally", "except D:\n    d()\nfinally"), ONE),
        (NESTED.replace("finally:\n    h()", "    finally:\n        i()\nfinally:\n    h()"), ONE),
        ("try:\n    f()\nfinally:\n    h()", "try:\n    f()\nfinally:\n    h()"),
    ],
    ids=["deeper", "no places", "other columns", "more in the body", "clauses of its own", "finally inside", "one"],
)
def test_two_stay_two(form: str, source: str) -> None:
    assert joined(form, source) == plain(form)


# -- a constant that is returned before `finally` ----------------------------------------

BEHIND = "try:\n    f()\nfinally:\n    g()\nreturn 1"
BEFORE = "try:\n    f()\n    return 1\nfinally:\n    g()"


def returned(form: str, source: str, idle: tuple[int, int] = (3, 11)) -> str:
    def restore(body: list[ast.stmt]) -> None:
        columns = Columns(body)
        columns.idle = {idle}
        rewrite(Block(body, None), 0, (Arms(columns, set()).before_finally,))

    return written(restore, form, source)


def test_a_constant_is_returned_where_it_stands() -> None:
    assert returned(BEHIND, BEFORE) == plain(BEFORE)


@pytest.mark.parametrize(
    ("form", "source", "idle"),
    [
        (BEHIND, BEHIND, (5, 7)),
        (BEHIND, BEFORE, (3, 12)),
        (BEHIND, BEFORE, (2, 11)),
        (BEHIND, "x", (3, 11)),
        (BEHIND, "f()", (3, 11)),
        (BEHIND, "if a:\n    x\n    g()", (3, 11)),
        (BEHIND.replace("1", "a"), BEFORE, (3, 11)),
        (BEHIND.replace("return 1", "h(1)"), BEFORE, (3, 11)),
        (BEHIND.replace("\nreturn 1", ""), BEFORE, (3, 11)),
        (BEHIND.replace("f()", "f()\n    return b"), BEFORE.replace("1", "b"), (4, 11)),
        (BEHIND.replace("f()", "f()\n    a()"), BEFORE, (3, 11)),
        (BEHIND.replace("finally", "except E:\n    e()\nfinally"), BEFORE, (3, 11)),
    ],
    ids=[
        "behind", "another column", "on the last line", "no places", "no end", "no body", "what is computed",
        "no return",
        "nothing behind", "another return", "no last line", "clauses",
    ],
)
def test_a_return_stays_behind(form: str, source: str, idle: tuple[int, int]) -> None:
    assert returned(form, source, idle) == plain(form)


@pytest.mark.parametrize("value", ["return 1", "return"])
def test_the_line_of_a_constant_that_a_clause_returns_is_none_of_the_clause(value: str) -> None:
    """Before a `finally` is left, the constant is loaded on the line of the `finally`."""
    form = f"try:\n    f()\nexcept:\n    {value}\nelse:\n    a()"
    assert parted(form, f"try:\n    f()\nexcept:\n    pass\nelse:\n    a()\n{value}") == plain(form)
