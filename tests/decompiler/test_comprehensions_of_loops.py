"""The loop of a comprehension's function as statements, and the comprehension that it is."""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.lift.nodes import Function, GetIter
from depyf.decompiler.passes.body import Body
from depyf.decompiler.passes.comprehensions import bound_around, comprehension, is_awaited, restore_comprehension
from depyf.decompiler.passes.unreached import ALL_REACHED, Unreached
from tests.decompiler.parsed import parsed, plain
from tests.decompiler.test_forms import code_of

GIVEN = {
    "for a in it: v1.append(a)": "[a for a in x]",
    "for a in it: v1.extend(a)": "[*a for a in x]",
    "for a in it:\n if b: v1.append(a)": "[a for a in x if b]",
    "for a in it:\n if b: pass\n else: v1.append(a)": "[a for a in x if not b]",
    "for a in it:\n if b: continue\n else: v1.append(a)": "[a for a in x if not b]",
    "for a in it:\n if b: continue\n v1.append(a)": "[a for a in x if not b]",
    "for a in it:\n for c in b: v1.append(a)": "[a for a in x for c in b]",
    "for a in it:\n c = b\n v1.append(a)": "[a for a in x for c in [b]]",
    "for a in it:\n c = b\n d = c\n v1.append(a)": "[a for a in x for c in [b] for d in [c]]",
    "for a in it: pass": "[None for a in x if False]",
}
LOOPS = {
    ("<setcomp>", "for a in it: v1.add(a)"): "{a for a in x}",
    ("<setcomp>", "for a in it: v1.update(a)"): "{*a for a in x}",
    ("<dictcomp>", "for a in it: v1.__setitem__(a, b)"): "{a: b for a in x}",
    ("<dictcomp>", "for a in it: pass"): "{None: None for a in x if False}",
}
NO_LIST = [
    "for a in it: v1.add(a)",
    "for a in it: v2.append(a)",
    "for a in it: b.append(a)",
    "for a in it: append(a)",
    "for a in it: a",
    "for a in it: return",
    "for a in it:\n b\n v1.append(a)",
    "for a in it:\n v2 = a\n v1.append(a)",
    "for a in it:\n c = d = b\n v1.append(a)",
    "for a in it:\n if b: c\n v1.append(a)",
    "for a in it:\n if b: continue\n else: pass\n v1.append(a)",
    "for a in it:\n if b:\n  c\n  continue\n v1.append(a)",
    "for a in it:\n if b: continue\n c\n v1.append(a)",
    "for a in it:\n if b: c\n else: v1.append(a)",
    "for a in it:\n for v2 in b: yield v2",
    "for a in it: c = b",
    "for a in it: v1.append(a)\nelse: b",
    "for a in it:\n while b: v1.append(a)",
    "for a in b: v1.append(a)",
    "for a in it.b: v1.append(a)",
    "if it: v1.append(a)",
    "b\nfor a in it: v1.append(a)",
    "b",
]


def restored(name: str, source: str, gone: Unreached = ALL_REACHED) -> str:
    body = source if name == "<genexpr>" else f"v1 = start\n{source}\nreturn v1"
    return plain(comprehension(parsed(body), name, "it", ast.Name(id="x", ctx=ast.Load()), gone))


@pytest.mark.parametrize("source", GIVEN)
def test_a_loop_that_fills_a_list(source: str) -> None:
    assert restored("<listcomp>", source) == GIVEN[source]


@pytest.mark.parametrize("case", LOOPS, ids=str)
def test_a_loop_that_fills_something_else(case: tuple[str, str]) -> None:
    assert restored(*case) == LOOPS[case]


@pytest.mark.parametrize("source", NO_LIST)
def test_a_loop_that_is_no_comprehension(source: str) -> None:
    assert restored("<listcomp>", source) == "nothing"


@pytest.mark.parametrize(
    "body",
    [
        "",
        "return v1",
        "return",
        "v1 = start\nfor a in it: v1.append(a)\nreturn a",
        "v1 = start\nfor a in it: v1.append(a)\nreturn v2",
        "for a in it: v1.append(a)",
        "for a in it: v1.append(a)\nreturn a",
        "for a in it: v1.append(a)\nreturn v1",
        "a\nfor a in it: v1.append(a)\nreturn v1",
        "a = start\nfor a in it: v1.append(a)\nreturn v1",
        "v1 = start\nreturn v1",
    ],
)
def test_a_body_that_is_no_comprehension(body: str) -> None:
    assert comprehension(parsed(body), "<listcomp>", "it", ast.Constant(value=1)) is None


@pytest.mark.parametrize(
    ("source", "given"),
    [
        ("for a in it: yield b", "(b for a in x)"),
        ("for a in it: yield b\nreturn", "(b for a in x)"),
        ("async for a in it: yield b", "(b async for a in x)"),
        ("for a in it:\n for v1 in b: yield v1", "(*b for a in x)"),
        ("for a in it:\n for v1 in b: yield v2", "(v2 for a in x for v1 in b)"),
        ("for a in it:\n for c in b: yield c", "(c for a in x for c in b)"),
        ("for a in it:\n for v1 in b: yield v1\n else: c", "nothing"),
        ("for a in it:\n for v1 in b:\n  c\n  yield v1", "nothing"),
        ("for a in it:\n for v1 in b:\n  if c: yield v1", "(v1 for a in x for v1 in b if c)"),
        ("for a in it:\n for v1 in b: f(v1)", "nothing"),
        ("for a in it:\n for v1 in b: v1", "nothing"),
        ("for a in it:\n for v1 in b: await v1", "nothing"),
        ("for a in it: b", "nothing"),
        ("for a in it: yield", "nothing"),
        ("v1 = start\nfor a in it: yield b\nreturn v1", "nothing"),
        ("for a in it: pass", "(None for a in x if False)"),
    ],
)
def test_a_loop_that_yields(source: str, given: str) -> None:
    assert restored("<genexpr>", source) == given


def test_what_is_never_reached_stands_in_the_element() -> None:
    gone = Unreached(bound=("c",), captured=("d",))
    assert restored("<listcomp>", "for a in it: v1.append(a)", gone) == "[a if True else lambda: d for a in x]"
    assert restored("<listcomp>", "for a in it: pass", gone) == "[lambda: d for a in x if False for c in ()]"


# -- calls of the functions of comprehensions ------------------------------------------------

SOURCE = "def f(x): return {}"


def called(source: str, argument: ast.expr, body: str, *, keyword: bool = False) -> ast.expr | None:
    (code,) = [const for const in code_of(SOURCE.format(source)).consts if hasattr(const, "consts")]
    function = Function(code=code, defaults=None, kwdefaults=None, annotations=None, closure=None, annotate=None)
    keywords = [ast.keyword(arg="a", value=argument)] if keyword else []
    call = ast.Call(func=function, args=[argument], keywords=keywords)
    stmts = parsed(body, nodes={"it": ast.Name(id=code.varnames[0] if code.varnames else "it", ctx=ast.Load())})
    return restore_comprehension(call, {id(code): Body(code, stmts)})


LOOP = "v1 = start\nfor a in it: v1.append(a)\nreturn v1"
X = ast.Name(id="x", ctx=ast.Load())


def test_a_call_with_an_iterator() -> None:
    assert plain(called("[a for a in x]", GetIter(value=X), LOOP)) == "[a for a in x]"


def test_calls_of_other_functions() -> None:
    """The compiler gives an iterator to the function of a comprehension, and nothing else."""
    assert called("lambda it: [it]", GetIter(value=X), LOOP) is None
    assert called("[a for a in x]", GetIter(value=X), LOOP, keyword=True) is None
    assert called("[a for a in x]", X, LOOP) is None


def test_what_is_bound_around() -> None:
    body = "v1 = start\nfor a in it: v1.append((b := a, (lambda: (c := a))))\nreturn v1"
    stmts = called("[(b := a) for a in x]", GetIter(value=X), body)
    assert stmts is not None
    bound = bound_around(stmts)
    assert bound is not None and [var.id for var in bound] == ["b"]
    assert not is_awaited(stmts)
    assert bound_around(X) is None


def test_a_coroutine_is_awaited_once() -> None:
    stmts = called("[a for a in x]", GetIter(value=X), LOOP)
    assert stmts is not None
    stmts.awaited = True  # type: ignore[attr-defined]
    assert [is_awaited(stmts), is_awaited(stmts)] == [True, False]
