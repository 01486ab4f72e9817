"""Comments tie the code that runs to the user's lines, and change nothing of it."""

from __future__ import annotations

import ast
from dataclasses import replace

from depyf.model.artifacts.transformed_source import (
    MOST_USER_LINES,
    WIDTH,
    Notes,
    annotated,
    break_comment,
    renamed,
    user_lines_comment,
)
from depyf.model.run import GraphBreak
from depyf.model.user_line import UserLine

SOURCE = """\
def toy(a, b):
    x, lt = __compiled_fn_1(a, b)
    if lt:
        return __resume_at_102_2([], [], b, x)
    return __resume_at_112_3([], [], b, x)
"""
BREAK = GraphBreak("Data-dependent branching", "", (), "GB0170", UserLine("toy.py", 6, "if b.sum() < 0:"), (), 0, "")
NOTES = Notes(
    header=("toy, toy.py:4", "proven: EXACT"),
    graphs={1: (UserLine("toy.py", 5, "x = a + 1"), UserLine("toy.py", 6, "if b.sum() < 0:"))},
    resumes={"__resume_at_102_2": "in line 7", "__resume_at_112_3": "in line 8"},
    breaks=(BREAK,),
    filename="toy.py",
)


def test_the_toy() -> None:
    assert (
        annotated(SOURCE, NOTES)
        == """\
# toy, toy.py:4
# proven: EXACT
def toy(a, b):
    x, lt = __compiled_fn_1(a, b)  # :5 x = a + 1   :6 if b.sum() < 0:
    # graph break at :6, `if b.sum() < 0:`: Data-dependent branching (GB0170)
    if lt:
        return __resume_at_102_2([], [], b, x)  # continues in line 7
    return __resume_at_112_3([], [], b, x)  # continues in line 8
"""
    )


def test_a_reason_names_an_installed_file_by_its_package() -> None:
    reason = "'skip function graph_break in file /usr/lib/python3/site-packages/torch/_dynamo/decorators.py'"
    comment = break_comment(replace(BREAK, reason=reason, where=None, code=""), "toy.py")
    assert comment == "graph break: 'skip function graph_break in file torch/_dynamo/decorators.py'"


def test_a_statement_of_several_lines_is_commented_above() -> None:
    source = "def f(a):\n    return __compiled_fn_1(\n        a,\n    )\n"
    assert annotated(source, NOTES).splitlines()[2:5] == [
        "def f(a):",
        "    # :5 x = a + 1   :6 if b.sum() < 0:",
        "    return __compiled_fn_1(",
    ]


def test_a_string_over_several_lines_is_left_alone() -> None:
    source = 'def f(a):\n    x = """one\n__compiled_fn_1(a)\n"""\n    return __compiled_fn_1(a)\n'
    annotated_source = annotated(source, NOTES)
    assert ast.dump(ast.parse(annotated_source)) == ast.dump(ast.parse(source))
    assert annotated_source.count("# :5") == 1


def test_no_line_is_too_long() -> None:
    long = UserLine("toy.py", 6, "y = " + " + ".join("abcdefgh" for _ in range(60)))
    annotated_source = annotated(SOURCE, Notes((), graphs={1: (long,)}, filename="toy.py"))
    assert all(len(line) <= WIDTH for line in annotated_source.splitlines())


def test_many_lines_are_summed_up() -> None:
    lines = tuple(UserLine("toy.py", number, "x") for number in range(5, 6 + MOST_USER_LINES))
    assert user_lines_comment(lines, "toy.py") == f":5 to :{5 + MOST_USER_LINES}, {MOST_USER_LINES + 1} lines"
    assert user_lines_comment(lines, "other.py") == f"{MOST_USER_LINES + 1} lines of toy.py, from toy.py:5 x"
    further = (UserLine("/far/away/lib.py", 9, "y"), *lines)
    assert user_lines_comment(further, "toy.py") == f"{MOST_USER_LINES + 2} lines of 2 files, from lib.py:9 y"


def test_lines_and_breaks_of_another_file_are_named_with_it() -> None:
    there = UserLine("/far/away/lib.py", 7, "log.warning(x)")
    comment = user_lines_comment((*NOTES.graphs[1], there), "toy.py")
    assert comment.endswith(":6 if b.sum() < 0:   lib.py:7 log.warning(x)")
    comment = break_comment(replace(BREAK, where=there), "toy.py")
    assert comment == "graph break at lib.py:7, `log.warning(x)`: Data-dependent branching (GB0170)"


def test_renaming_leaves_strings_alone() -> None:
    source = "def f():\n    return old('old', old)  # old\n"
    assert renamed(source, {"old": "new"}) == "def f():\n    return new('old', new)  # old\n"


def test_a_manager_that_is_entered_by_hand_is_said_to_be() -> None:
    source = "def f(m):\n    m.__enter__()\n    try:\n        g()\n    finally:\n        m.__exit__(None, None, None)\n"
    assert annotated(source, Notes(())).splitlines()[1].strip().startswith("# like `with`, but by hand: ")
    unmarked = source.replace("None, None, None", "*exc_info()")
    assert annotated(unmarked, Notes(())) == unmarked
