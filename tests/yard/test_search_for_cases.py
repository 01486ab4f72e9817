"""How cases are found: rules note which sources show them, and sources are varied."""

from __future__ import annotations

import ast
import contextlib
import random

import pytest

from depyf.bytecode.normalise import normalise
from depyf.decompiler.pipeline.work import Work
from tests.quality.forms.around import SOURCE, code_of, decompile_until, form_after, shown
from tests.quality.forms.cases import Case, modules
from tests.quality.forms.changes import MARK as CHANGES
from tests.quality.forms.changes import ROWS, Done, NoForm, ending, in_place_of
from tests.quality.forms.compiling import compiled_or_none, compiled_piece
from tests.quality.forms.measure import given
from tests.quality.forms.mutants import applied, mutants
from tests.quality.forms.operations import MARK, NoOperations, read_listing, text_of, varied_operations
from tests.quality.forms.reach import noting, reached
from tests.quality.forms.trials import Snapshot, Trials
from tests.quality.forms.vary import varied

MODULE = "structure/exits"


def test_each_changed_rule_is_noted() -> None:
    some = modules()[::12]
    with noting(some) as noted:
        known = set(noted.keys)
    assert [str(mutant) for module in some for mutant in mutants(module) if mutant.key not in known] == []


def test_functions_that_note_are_put_back() -> None:
    functions = {mutant.function: mutant.function.__code__ for mutant in mutants(MODULE)}
    with noting([MODULE]):
        assert all(function.__code__ is not code for function, code in functions.items())
    assert all(function.__code__ is code for function, code in functions.items())


def test_a_source_shows_the_operands_that_decide() -> None:
    names = {mutant.key: str(mutant) for mutant in mutants("passes/flow/tidy")}

    def shown(source: str) -> set[str]:
        return {names[key] for key in reached([(source, (3, 11))], ["passes/flow/tidy"]) if key in names}

    plain = shown("def f(a):\n    return a\n")
    nested = shown("def f(a):\n    if a:\n        return 1\n    else:\n        a()\n    return a\n")
    assert plain < nested


def test_a_varied_source_is_another_source() -> None:
    source = "def f(a, b):\n    if a and b:\n        return g(a)\n    for x in b:\n        print(x)\n"
    texts = [varied(source, [source], random.Random(seed)) for seed in range(60)]
    assert len({text for text in texts if text is not None}) > 40
    for text in texts:
        assert text != source
        assert text is None or ast.parse(text).body
    assert varied(source, [source], random.Random(3)) == varied(source, [source], random.Random(3))


def test_what_is_no_source_is_not_varied() -> None:
    assert varied("def f(:\n", ["a"], random.Random(1)) is None


GUARDED = "def f(a):\n    try:\n        return a()\n    except E:\n        return lambda: a\n"


def test_operations_are_read_back() -> None:
    code = code_of(GUARDED)
    text = text_of(normalise(code))
    assert text_of(read_listing(code, text)) == text


@pytest.mark.parametrize("text", ["nothing of the kind\n", "JUMP -> 7\n", "LOAD_FAST\n", "NO_SUCH 1\n", "POP\n", ""])
def test_what_is_no_operations_is_refused(text: str) -> None:
    assert compiled_or_none(f"def f(a): pass\n{MARK}{text}", (3, 11)) is None


def test_a_case_may_stand_on_operations() -> None:
    code = compiled_piece(f"def f(a): pass\n{MARK}LOAD_FAST 'a'\nCOPY 1\nBINARY '+'\nRETURN\n", (3, 11))
    assert shown(code, SOURCE) == "def f(a):\n    return a + a\n"


def test_varied_operations_are_mostly_code() -> None:
    text = text_of(normalise(code_of(GUARDED)))
    texts = [varied_operations(text, random.Random(seed)) for seed in range(60)]
    assert len(set(texts)) > 40
    assert sum(compiled_or_none(GUARDED + MARK + row, (3, 11)) is not None for row in texts) > 15
    with pytest.raises(NoOperations):
        read_listing(code_of(GUARDED), "RETURN -> 3")


LOOP = "def f(a, b):\n    while a:\n        if a and b:\n            return b\n        b = a\n"


def changed(name: str, changes: str, source: str = LOOP) -> str:
    """Return what a pass makes of its form with changes."""
    return shown(compiled_piece(f"{source}{CHANGES}{changes}", (3, 11)), name)


def test_a_case_may_stand_on_a_changed_form() -> None:
    changes = "stmts[0].body[0].orelse = code('return a')\n"
    assert changed("tidy", changes).endswith("-    else:\n-        return a\n+    return a\n")
    assert "return a" not in shown(compiled_piece(LOOP, (3, 11)), "tidy")


def test_what_a_pass_refuses_is_shown() -> None:
    loop = "def f(a):\n    for x in a:\n        print(x)\n"
    refused = changed("complete", "stmts.append(code('for v1 in a:\\n    b()')[0])\n", loop)
    assert refused.endswith("+refused: Unstructured: ForStmt has no Python statement\n")


@pytest.mark.parametrize(
    "changes", ["nothing.of.the = kind\n", "graph.blocks[1].handler = 7\n", "del graph.blocks[0]\n", "raise OSError\n"]
)
def test_changes_that_leave_no_form_are_refused(changes: str) -> None:
    with pytest.raises(NoForm):
        changed("exits", changes)


def test_a_snapshot_puts_back_what_a_pass_takes() -> None:
    code = compiled_piece(LOOP, (3, 11))
    texts: list[str] = []

    def look(work: Work) -> None:
        snapshot = Snapshot.of({"stmts": work.stmts})
        for _ in range(2):
            texts.append(form_after("tidy", work))
            work.stmts[0].body.clear()  # type: ignore[attr-defined]
            snapshot.put_back(work)

    with in_place_of(ROWS["tidy"], ending(code, look, look)), contextlib.suppress(Done):
        decompile_until(code, "tidy")
    assert len(texts) == 2
    assert texts[0] == texts[1]


def test_random_changes_tell_changed_rules() -> None:
    left = {mutant.key: mutant for mutant in mutants("passes/flow/opposites")}
    with noting(["passes/flow/opposites"]) as noted:
        trials = Trials(noted, left, random.Random(2))
        trials.run((LOOP, (3, 11), "opposites"), "", 60)
    assert len({mutant.key for mutant, _ in trials.telling}) > 2
    for mutant, changes in trials.telling[:5]:
        case = Case("opposites", (3, 11), "", f"{LOOP}{CHANGES}{changes}", "")
        plain = given(case)
        with applied(mutant):
            assert given(case) != plain


def test_a_case_that_does_what_no_case_does_is_no_rule() -> None:
    names = {str(mutant) for mutant in mutants("structure/regions/same")}
    assert "_edges, no case Goto(edge)" in names
    assert "_edges, no case _" not in names
    assert "_inner, no case _" not in {str(mutant) for mutant in mutants("structure/budget")}
    assert "_deciding, no case _" in {str(mutant) for mutant in mutants("structure/chains")}
