"""Which functions with annotations get a temporary of their own, as only a definition has annotations."""

from __future__ import annotations

import pytest

from tests.decompiler.folding import statements
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a, b):\n    def inner(): pass\n    def __private(): pass\n    lambda: 0\n    return g")
B, CONST = "v5 = LOAD_FAST 'b'; ", "v6 = CONST 1; "
STAYS = {
    "it is bound to its name": "{}STORE_FAST 'inner' v2",
    "it is decorated, and bound to its name": B + "{}v3 = CALL () v5 v2; STORE_FAST 'inner' v3",
    "it is the body of a class": "v5 = LOAD_BUILD_CLASS; {}v3 = CALL () v5 v2 v6; STORE_FAST 'C' v3",
    "it gets defaults behind": B + "{}v3 = SET_FUNCTION_ATTRIBUTE 1 v5 v2; STORE_FAST 'inner' v3",
    "it gets type parameters behind": "{}v3 = INTRINSIC 'INTRINSIC_SET_FUNCTION_TYPE_PARAMS' v2 v5; return v3",
    "it is a part of a type alias": "{}v3 = BUILD_TUPLE v2; v4 = INTRINSIC 'INTRINSIC_TYPEALIAS' v3; return v4",
}
NAMED = {
    "it is bound to another name": "{}STORE_FAST 'other' v2",
    "it is bound to a name that ends with its own": "{}STORE_FAST '_inner' v2",
    "it is decorated, and bound to another name": B + "{}v3 = CALL () v5 v2; STORE_FAST 'other' v3",
    "it is an argument with a keyword": B + "{}v3 = CALL ('k',) v5 v2; STORE_FAST 'inner' v3",
    "it is the first of two arguments": B + "{}" + CONST + "v3 = CALL () v5 v2 v6; STORE_FAST 'inner' v3",
    "it is the second of two arguments": B + CONST + "{}v3 = CALL () v5 v6 v2; STORE_FAST 'inner' v3",
    "it is called": "{}" + CONST + "v3 = CALL () v2 v6; STORE_FAST 'inner' v3",
    "it is an operand": "{}v3 = UNARY '-' v2; STORE_FAST 'inner' v3",
    "it is an index": B + "{}v3 = LOAD_SUBSCR v5 v2; STORE_FAST 'inner' v3",
    "it is returned": "{}return v2",
    "it is used twice": "{}v4 = BUILD_TUPLE v2 v2; return v4",
    "it is a part of a tuple": "{}v3 = BUILD_TUPLE v2; return v3",
    "it is a part of a tuple that is an operand": "{}v3 = BUILD_TUPLE v2; v4 = UNARY '-' v3; return v4",
    "it is dropped": "{}POP v2",
    "it gets defaults, and another name": B + "{}v3 = SET_FUNCTION_ATTRIBUTE 1 v5 v2; STORE_FAST 'other' v3",
}
"""What becomes of a function, and the operations around those that make it."""


def is_named(rows: str, *, flags: int = 4, name: str = "inner") -> bool:
    """Return whether a function is assigned to a temporary."""
    annotations = "v0 = LOAD_FAST 'a'; " if flags else ""
    instructions = (
        f"{annotations}v1 = CONST <code f.<locals>.{name}>; v2 = MAKE_FUNCTION {flags}{' v0' * bool(flags)} v1; "
    )
    text = statements(rows.format(instructions), CODE)
    return any(row.startswith(("v2 = <Function", "v3 = <Function")) for row in text.splitlines())


@pytest.mark.parametrize("what", STAYS)
def test_its_definition_stands_for_a_function(what: str) -> None:
    assert not is_named(STAYS[what])


@pytest.mark.parametrize("what", NAMED)
def test_a_function_has_a_name_of_its_own_first(what: str) -> None:
    assert is_named(NAMED[what])


@pytest.mark.parametrize("what", [what for what in NAMED if what != "it is used twice"])
def test_without_annotations_a_function_stays(what: str) -> None:
    assert not is_named(NAMED[what], flags=0)


def test_a_private_name_is_mangled() -> None:
    assert not is_named("{}STORE_FAST '_C__private' v2", name="__private")
    assert is_named("{}STORE_FAST 'other' v2", name="__private")


def test_a_lambda_is_no_definition() -> None:
    assert not is_named("{}STORE_FAST 'other' v2", name="<lambda>")


@pytest.mark.parametrize("flag", [4, 16])
def test_annotations_that_come_behind(flag: int) -> None:
    assert is_named(f"v5 = LOAD_FAST 'b'; {{}}v3 = SET_FUNCTION_ATTRIBUTE {flag} v5 v2; STORE_FAST 'other' v3", flags=0)
