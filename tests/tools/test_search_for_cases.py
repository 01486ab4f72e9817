"""How cases are found: rules note which sources show them, and sources are varied."""

from __future__ import annotations

import ast
import random

import pytest

from depyf.bytecode.normalise import normalise
from tools.forms.around import SOURCE, code_of, shown
from tools.forms.cases import modules
from tools.forms.compiling import compiled_or_none, compiled_piece
from tools.forms.mutants import mutants
from tools.forms.operations import MARK, NoOperations, read_listing, text_of, varied_operations
from tools.forms.reach import noting, reached
from tools.forms.vary import varied

MODULE = "structure/exits"


def test_each_changed_rule_is_noted() -> None:
    some = modules()[::12]
    with noting(some) as noted:
        known = set(noted.keys)
    assert [str(one) for module in some for one in mutants(module) if one.key not in known] == []


def test_functions_that_note_are_put_back() -> None:
    functions = {one.function: one.function.__code__ for one in mutants(MODULE)}
    with noting([MODULE]):
        assert all(function.__code__ is not code for function, code in functions.items())
    assert all(function.__code__ is code for function, code in functions.items())


def test_a_source_shows_the_operands_that_decide() -> None:
    names = {one.key: str(one) for one in mutants("passes/tidy")}

    def shown(source: str) -> set[str]:
        return {names[key] for key in reached([(source, (3, 11))], ["passes/tidy"]) if key in names}

    plain = shown("def f(a):\n    return a\n")
    nested = shown("def f(a):\n    if a:\n        return 1\n    else:\n        a()\n    return a\n")
    assert plain < nested


def test_a_varied_source_is_another_source() -> None:
    source = "def f(a, b):\n    if a and b:\n        return g(a)\n    for x in b:\n        print(x)\n"
    found = [varied(source, [source], random.Random(seed)) for seed in range(60)]
    assert len({text for text in found if text is not None}) > 40
    for text in found:
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
    found = [varied_operations(text, random.Random(seed)) for seed in range(60)]
    assert len(set(found)) > 40
    assert sum(compiled_or_none(GUARDED + MARK + one, (3, 11)) is not None for one in found) > 15
    with pytest.raises(NoOperations):
        read_listing(code_of(GUARDED), "RETURN -> 3")
