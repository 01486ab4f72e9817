"""Exits at the ends of blocks: the form that the code gives, and the source whose exits have locations."""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.passes.source_form.arms import never_falls_through
from depyf.decompiler.passes.source_form.columns import Columns
from depyf.decompiler.passes.source_form.evidence import Kind, Written
from depyf.decompiler.passes.source_form.ways_out import drop_unreached_breaks, restore_ways_out
from depyf.decompiler.passes.walk import statements
from tests.decompiler.placing import as_compiled, plain

EXITS: dict[type[ast.stmt], Kind] = {ast.Continue: Kind.CONTINUE, ast.Break: Kind.BREAK, ast.Pass: Kind.PASS}


def exits_of(source: str, has_columns: bool) -> list[Written]:
    """Return the exits without a value in a source, in its order."""
    exits = []
    for node in statements(ast.parse(source).body):
        kind = EXITS.get(type(node))
        if isinstance(node, ast.Return) and (node.value is None or ast.unparse(node.value) == "None"):
            kind = Kind.RETURN if node.value is None else Kind.NONE
        if kind is not None:
            exits.append(Written(node.lineno, node.col_offset if has_columns else None, kind))
    return sorted(exits, key=lambda item: item.line)


def ending_of(body: list[ast.stmt]) -> set[ast.stmt]:
    """Return the statements that never fall through."""
    never_ending: set[ast.stmt] = set()
    for stmt in reversed(list(statements(body))):
        if never_falls_through(stmt, never_ending):
            never_ending.add(stmt)
    return never_ending


def shown(body: list[ast.stmt]) -> str:
    return ast.unparse(ast.fix_missing_locations(ast.Module(body, [])))


def restored(form: str, source: str, *, has_columns: bool = True, is_generator: bool = False) -> str:
    """Return what becomes of a form: the exits of the source have locations, with columns or lines alone."""
    body = as_compiled(form, source, has_columns=has_columns)
    written = exits_of(source, has_columns)
    restore_ways_out(
        body, Columns(body), written, ending_of(body), has_all=has_columns, is_generator=is_generator
    )
    return shown(body)


RESTORED = {
    "a return at the end": ("a()", "a()\nreturn"),
    "a return of None at the end": ("a()\nreturn", "a()\nreturn None"),
    "no return at the end": ("a()\nreturn", "a()"),
    "no return at the end of an arm": ("if a:\n    b()\n    return", "if a:\n    b()"),
    "nothing in an arm": ("if a:\n    return\nelse:\n    b()", "if a:\n    pass\nelse:\n    b()"),
    "a continue at the end of a loop": ("for x in y:\n    a()", "for x in y:\n    a()\n    continue"),
    "no continue at the end of a loop": ("for x in y:\n    a()\n    continue", "for x in y:\n    a()"),
    "an arm that holds an exit alone": ("if a:\n    b()", "if a:\n    b()\nelse:\n    return"),
    "an else of a loop that holds an exit alone": (
        "for x in y:\n    a()",
        "for x in y:\n    a()\nelse:\n    return",
    ),
    "a return at the end of the else of a loop": (
        "for x in y:\n    a()\nelse:\n    b()",
        "for x in y:\n    a()\nelse:\n    b()\n    return",
    ),
    "a return that leaves a loop": ("for x in y:\n    if a:\n        break", "for x in y:\n    if a:\n        return"),
    "a break where a return does the same": (
        "for x in y:\n    if a:\n        return",
        "for x in y:\n    if a:\n        break",
    ),
    "a return of a clause": (
        "try:\n    a()\nexcept E:\n    b()\nelse:\n    c()",
        "try:\n    a()\nexcept E:\n    b()\n    return\nelse:\n    c()",
    ),
    "a return of an else behind a clause": (
        "try:\n    a()\nexcept E:\n    b()\nelse:\n    c()",
        "try:\n    a()\nexcept E:\n    b()\nelse:\n    c()\n    return",
    ),
    "a break in the else of a try": (
        "while x:\n    try:\n        a()\n    except E:\n        continue\n    break",
        "while x:\n    try:\n        a()\n    except E:\n        continue\n    else:\n        break\n    break",
    ),
    "a break at the end of the else of a try": (
        "while x:\n    try:\n        a()\n    except E:\n        continue\n    else:\n        b()\n    break",
        "while x:\n    try:\n        a()\n    except E:\n        continue\n"
        "    else:\n        b()\n        break\n    break",
    ),
    "a break of a clause": (
        "while x:\n    try:\n        a()\n    except E:\n        b()\n    break",
        "while x:\n    try:\n        a()\n    except E:\n        b()\n        break\n    break",
    ),
    "a break in the else of a try that is left": (
        "while x:\n    try:\n        a()\n        break\n    except E:\n        b()",
        "while x:\n    try:\n        a()\n        break\n    except E:\n        b()\n    else:\n        break",
    ),
}
"""What the code gives, and the source."""
STAYS = {
    "no exit": "a()",
    "a return of a value": "a()\nreturn b",
    "a continue alone in an arm": "for x in y:\n    if a:\n        continue\n    else:\n        b()",
    "a return in an arm that more follows": "if a:\n    return\nb()",
    "a body of a try that its else follows": "try:\n    a()\n    return\nexcept E:\n    b()\nelse:\n    c()",
    "a return in a finally": "try:\n    a()\nfinally:\n    b()\n    return",
}
OTHERWISE = {
    "nothing stands behind a return of a value": ("a()\nreturn b", "a()\nreturn b\nreturn"),
    "nothing stands behind arms that leave": (
        "if a:\n    return b\nelse:\n    raise c",
        "if a:\n    return b\nelse:\n    raise c\nreturn",
    ),
    "a continue alone in an arm has no location of its own": (
        "for x in y:\n    if a:\n        continue\n    else:\n        b()",
        "for x in y:\n    if a:\n\n        z\n    else:\n        b()",
    ),
    "a body of a try ends before its else": (
        "try:\n    a()\n    return\nexcept E:\n    b()\nelse:\n    c()",
        "try:\n    a()\nexcept E:\n    b()\nelse:\n    c()",
    ),
    "the end of a finally raises again": (
        "try:\n    a()\nfinally:\n    b()\n    return",
        "try:\n    a()\nfinally:\n    b()",
    ),
    "a try with a finally, before a break": (
        "while x:\n    try:\n        a()\n    except E:\n        continue\n    finally:\n        b()\n    break",
        "while x:\n    try:\n        a()\n    except E:\n        continue\n    else:\n        break",
    ),
}
"""Forms that do not become the source."""


@pytest.mark.parametrize("case", RESTORED)
def test_exits_are_as_the_source_has_them(case: str) -> None:
    form, source = RESTORED[case]
    assert restored(form, source) == plain(source) != plain(form)


@pytest.mark.parametrize("case", STAYS)
def test_exits_of_the_source_stay(case: str) -> None:
    assert restored(STAYS[case], STAYS[case]) == plain(STAYS[case])


@pytest.mark.parametrize("case", OTHERWISE)
def test_another_exit_stays(case: str) -> None:
    form, source = OTHERWISE[case]
    assert restored(form, source) == plain(form)


# -- lines alone ----------------------------------------------------------------------------------

BY_LINES = {
    "a return at the end": ("a()", "a()\nreturn"),
    "a continue at the end of a loop": ("for x in y:\n    a()", "for x in y:\n    a()\n    continue"),
    "no return at the end of an arm": ("if a:\n    b()\n    return", "if a:\n    b()"),
    "a return of None in a clause": (
        "try:\n    a()\nexcept E:\n    pass",
        "try:\n    a()\nexcept E:\n    return None",
    ),
    "a return of None behind a break": (
        "for x in y:\n    if a:\n        break",
        "for x in y:\n    if a:\n        break\nreturn None",
    ),
}
STAYS_BY_LINES = {
    "a return alone in an arm": ("if a:\n    b()\nelse:\n    return", "if a:\n    b()"),
    "a pass alone in a clause": ("try:\n    a()\nexcept E:\n    pass", "try:\n    a()\nexcept E:\n    return"),
    "a break": ("for x in y:\n    if a:\n        break", "for x in y:\n    if a:\n        return"),
    "a return behind a break": (
        "for x in y:\n    if a:\n        break",
        "for x in y:\n    if a:\n        break\nreturn",
    ),
}
OF_GENERATORS = {
    "a return in a clause": ("try:\n    a()\nexcept E:\n    pass", "try:\n    a()\nexcept E:\n    return"),
    "a return that leaves a loop": ("for x in y:\n    if a:\n        break", "for x in y:\n    if a:\n        return"),
}
OTHERS_OF_GENERATORS = {
    "a continue in a clause": (
        "for x in y:\n    try:\n        a()\n    except E:\n        pass",
        "for x in y:\n    try:\n        a()\n    except E:\n        continue",
    ),
    "a return behind a continue": (
        "for x in y:\n    if a:\n        continue",
        "for x in y:\n    if a:\n        continue\nreturn",
    ),
}


@pytest.mark.parametrize("case", BY_LINES)
def test_exits_on_lines_of_their_own(case: str) -> None:
    form, source = BY_LINES[case]
    assert restored(form, source, has_columns=False) == plain(source) != plain(form)


@pytest.mark.parametrize("case", STAYS_BY_LINES)
def test_a_line_is_more_probably_of_what_is_there(case: str) -> None:
    form, source = STAYS_BY_LINES[case]
    assert restored(form, source, has_columns=False) == plain(form)


@pytest.mark.parametrize("case", OF_GENERATORS)
def test_a_generator_ends_with_return(case: str) -> None:
    form, source = OF_GENERATORS[case]
    assert restored(form, source, has_columns=False, is_generator=True) == plain(source)
    assert restored(form, source, has_columns=False) == plain(form)


@pytest.mark.parametrize("case", OTHERS_OF_GENERATORS)
def test_other_exits_of_a_generator(case: str) -> None:
    form, source = OTHERS_OF_GENERATORS[case]
    assert restored(form, source, has_columns=False, is_generator=True) == plain(form)


@pytest.mark.parametrize("arm", ["continue", "b()\n        continue"])
def test_an_exit_that_is_there_has_its_line(arm: str) -> None:
    """The arms of a test are told by the lines of its exits."""
    source = f"for x in y:\n    if a:\n        {arm}\n    c()"
    body = as_compiled(source, source, has_columns=False)
    written = exits_of(source, has_columns=False)
    assert restore_ways_out(body, Columns(body), written, ending_of(body), has_all=False)
    assert [node.lineno for node in ast.walk(body[0]) if isinstance(node, ast.Continue)] == [written[0].line]


# -- what is written ------------------------------------------------------------------------------


def test_an_exit_has_the_column_of_its_location() -> None:
    source = "for x in y:\n    a()\n    continue"
    body = as_compiled("for x in y:\n    a()", source)
    columns = Columns(body)
    assert restore_ways_out(body, columns, [Written(3, 4, Kind.CONTINUE)], set())
    assert isinstance(body[0], ast.For)
    added = body[0].body[-1]
    assert (columns.column(added), added.lineno) == (4, 3)



UNREACHED = {
    "while x:\n    if a:\n        continue\n    else:\n        break\n    break":
        "while x:\n    if a:\n        continue\n    else:\n        break",
    "while x:\n    try:\n        a()\n        break\n    except E:\n        b()\n    else:\n        break":
        "while x:\n    try:\n        a()\n    except E:\n        b()\n    else:\n        break",
}
REACHED = [
    "while x:\n    if a:\n        continue\n    break",
    "while x:\n    if a:\n        continue\n    else:\n        break\n    b()",
    "while x:\n    try:\n        break\n    except E:\n        b()\n    else:\n        break",
    "while x:\n    try:\n        a()\n        continue\n    except E:\n        b()\n    else:\n        break",
    "while x:\n    try:\n        a()\n        break\n    except E:\n        b()\n    else:\n        c()\n        break",
]


@pytest.mark.parametrize("form", UNREACHED)
def test_a_break_that_is_not_reached_goes(form: str) -> None:
    body = ast.parse(form).body
    assert drop_unreached_breaks(body, ending_of(body))
    assert shown(body) == UNREACHED[form]


@pytest.mark.parametrize("form", REACHED)
def test_another_statement_stays(form: str) -> None:
    body = ast.parse(form).body
    assert not drop_unreached_breaks(body, ending_of(body))
    assert shown(body) == form
