"""Statements behind a body that never falls through, where lines show an `else`: the form that the code gives, and its
source."""

from __future__ import annotations

import ast
import textwrap

import pytest

from depyf.bytecode.code import Code
from depyf.bytecode.normalise import normalise
from depyf.decompiler.passes.source_form.arms_by_lines import restore_arms_by_lines
from depyf.decompiler.passes.source_form.lines import Lines
from tests.decompiler.placing import as_compiled, plain
from tests.oracles import compiled


def restored(form: str, source: str, version: tuple[int, int] = (3, 10)) -> str:
    """Return what becomes of a form with the lines of a source, both of the body of a function."""
    form, source = (f"def f():\n{textwrap.indent(text, '    ')}" for text in (form, source))
    (code,) = [const for const in compiled(source, version).consts if isinstance(const, Code)]
    (function,) = as_compiled(form, source, has_columns=False)
    assert isinstance(function, ast.FunctionDef)
    restore_arms_by_lines(function.body, Lines(normalise(code)))
    return ast.unparse(ast.fix_missing_locations(ast.Module(list(function.body), [])))


RESTORED = {
    "an exit two lines below another": (
        "if a:\n    return b\nraise c",
        "if a:\n    return b\nelse:\n    raise c",
    ),
    "tests in an else that has its line": (
        "if a:\n    b()\nelse:\n    if c:\n        return d\n    else:\n        return e",
        "if a:\n    b()\nelse:\n    if c:\n        return d\n    return e",
    ),
    "a test right below an exit": (
        "if a:\n    return b\nif c:\n    return d\nelse:\n    return e",
        "if a:\n    return b\nelif c:\n    return d\nelse:\n    return e",
    ),
    "a negated test with a computed result": (
        "if not a:\n    return b\nreturn c",
        "if not a:\n    return b\nelse:\n    return c",
    ),
    "an exit right below another": (
        "if a:\n    return b\nelse:\n    return c",
        "if a:\n    return b\nreturn c",
    ),
    "what stands behind both arms": (
        "if a:\n    b()\n    return c\nraise d",
        "if a:\n    b()\nelse:\n    raise d\nreturn c",
    ),
    "a raise below a comment": (
        "if a:\n    return b\nraise c",
        "if a:\n    return b\nelse:\n    # d\n    raise c",
    ),
    "checks of one value": (
        "if a > 1:\n    raise b\nif a < 0:\n    raise d",
        "if a > 1:\n    raise b\nelif a < 0:\n    raise d",
    ),
    "statements below the else of an arm that goes on": (
        "if a:\n    b()\n    return c\nd()",
        "if a:\n    b()\nelse:\n    d()\n    return\nreturn c",
    ),
    "the else of a try in the else of a loop": (
        "for x in y:\n    z()\nelse:\n    try:\n        a()\n    except E:\n        b()\n        return\n    c()",
        "for x in y:\n    z()\nelse:\n    try:\n        a()\n    except E:\n        b()\n    else:\n        c()",
    ),
    "a break before a clause": (
        "for x in y:\n    try:\n        a()\n    except E:\n        b()\n        continue\n    break",
        "for x in y:\n    try:\n        a()\n        break\n    except E:\n        b()",
    ),
    "a return before a clause that leaves": (
        "try:\n    a()\nexcept E:\n    raise b\nreturn 1",
        "try:\n    a()\n    return 1\nexcept E:\n    raise b",
    ),
    "a break before a clause that does nothing": (
        "while x:\n    try:\n        a()\n    except E:\n        raise b\n    except F:\n        continue\n    break",
        "while x:\n    try:\n        a()\n        break\n    except E:\n        raise b\n    except F:\n        pass",
    ),
    "several statements behind a clause that goes on": (
        "try:\n    a()\nexcept E:\n    b()\n    return\nc()\nd()",
        "try:\n    a()\nexcept E:\n    b()\nelse:\n    c()\n    d()",
    ),
    "several statements behind two clauses, of which the first goes on": (
        "try:\n    a()\nexcept E:\n    b()\n    return\nexcept F:\n    raise g\nc()\nd()",
        "try:\n    a()\nexcept E:\n    b()\nexcept F:\n    raise g\nelse:\n    c()\n    d()",
    ),
    "one statement behind two clauses, of which the first does nothing": (
        "try:\n    a()\nexcept E:\n    return\nexcept F:\n    raise g\nc()",
        "try:\n    a()\nexcept E:\n    pass\nexcept F:\n    raise g\nelse:\n    c()",
    ),
    "an else after an empty line": (
        "try:\n    a()\nexcept E:\n    b()\n    return\nc()",
        "try:\n    a()\nexcept E:\n    b()\n\nelse:\n    c()",
    ),
}
"""What the code gives, and the source."""
STAYS = {
    "an exit after an empty line and a call": "if a:\n    return b\n\nc()\nraise d",
    "a test after an empty line": "if a:\n    return b\n\nif c:\n    return d\nelse:\n    return e",
    "a test below a test that goes on": "if a:\n    b()\nif c:\n    raise d\n\nreturn e",
    "breaks behind each other": (
        "while x:\n    if a:\n        b()\n        break\n    if c:\n        d()\n        break"
    ),
    "a check": "if a:\n    raise b\n\nreturn c",
    "checks of two values": "if a:\n    raise b\nif c:\n    raise d\n\nreturn e",
    "a return below a comment": "if a:\n    return b\n\n# d\nreturn c",
    "a negated test with a constant": "if not a:\n    return None\n\nreturn c",
    "a negated test before a comparison": "if not a:\n    return b\n\nreturn c == d",
    "a negated test before an `and`": "if not a:\n    return b\n\nreturn c and d",
    "a statement behind a clause that leaves": "try:\n    a()\nexcept E:\n    raise b\n\nx = c()\nd()",
}
OTHERWISE = {
    "a clause that does nothing is not the last one": (
        "try:\n    a()\nexcept E:\n    return\nexcept F:\n    raise g\nc()\nd()",
        "try:\n    a()\nexcept E:\n    pass\nexcept F:\n    raise g\n\nc()\nd()",
    ),
    "a clause that does nothing, and more than one line": (
        "try:\n    a()\nexcept E:\n    raise g\nexcept F:\n    return\nc()",
        "try:\n    a()\nexcept E:\n    raise g\nexcept F:\n    pass\n\n\n\nc()",
    ),
}
"""Forms that do not become the source."""


@pytest.mark.parametrize("case", RESTORED)
def test_an_else_stands_where_lines_show_it(case: str) -> None:
    form, source = RESTORED[case]
    assert restored(form, source) == plain(source) != plain(form)


@pytest.mark.parametrize("case", STAYS)
def test_what_stands_behind_an_exit_stays(case: str) -> None:
    assert restored(STAYS[case], STAYS[case]) == plain(STAYS[case])


@pytest.mark.parametrize("case", OTHERWISE)
def test_other_forms_stay(case: str) -> None:
    form, source = OTHERWISE[case]
    assert restored(form, source) == plain(form)


def test_the_last_clause_leaves_on_its_line() -> None:
    """What it does is the end of the function: another pass writes the `return` that its line shows."""
    form = "try:\n    a()\nexcept E:\n    raise b\nexcept F:\n    return\nc()\nd()"
    source = "try:\n    a()\nexcept E:\n    raise b\nexcept F:\n    return\nelse:\n    c()\n    d()"
    assert restored(form, source) == plain(source.replace("return", "pass"))
