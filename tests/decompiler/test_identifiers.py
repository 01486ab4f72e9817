"""Names that no source can say: which code has one, and what is written in its place."""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.passes.identifiers import are_writable, write_identifiers
from tests.decompiler.test_forms import code_of
from tests.quality.forms.operations import read_listing

RETURNED = "CONST None\nRETURN\n"
SAID = {
    "a call": "NULL\nLOAD_FAST 'a'\nLOAD_FAST 'a'\nCONST ('key',)\nCALL_KW (1, 'below')\nRETURN\n",
    "an import": "CONST 0\nCONST None\nIMPORT_NAME 'a.b'\nRETURN\n",
    "a star": f"CONST 0\nCONST ('*',)\nIMPORT_NAME 'a'\nPOP\n{RETURNED}",
    "numbers": f"CONST 0\nCONST (1, 2)\nIMPORT_NAME 'a'\nPOP\n{RETURNED}",
    "texts and numbers": f"CONST 0\nCONST ('a b', 2)\nIMPORT_NAME 'a'\nPOP\n{RETURNED}",
    "no tuple": f"CONST 0\nCONST 'a b'\nIMPORT_NAME 'a'\nPOP\n{RETURNED}",
    "a constant that names nothing": f"CONST ('a b',)\nPOP\n{RETURNED}",
    "what stands behind what names": f"CONST 0\nCONST ('a',)\nIMPORT_NAME 'a'\nCONST ('a b',)\nPOP\nPOP\n{RETURNED}",
}
UNSAID = {
    "an import": f"CONST 0\nCONST ('a b',)\nIMPORT_NAME 'a'\nPOP\n{RETURNED}",
    "one of several": f"CONST 0\nCONST ('a', 'b c')\nIMPORT_NAME 'a'\nPOP\n{RETURNED}",
    "a class pattern": f"LOAD_FAST 'a'\nLOAD_FAST 'a'\nCONST ('a b',)\nMATCH_CLASS 0\nPOP\n{RETURNED}",
}


def asks(rows: str, source: str = "def f(a): pass") -> bool:
    code = code_of(source)
    return are_writable([read_listing(code, rows)])


@pytest.mark.parametrize("what", SAID)
def test_what_a_source_says(what: str) -> None:
    assert asks(SAID[what])


@pytest.mark.parametrize("what", UNSAID)
def test_what_no_source_says(what: str) -> None:
    assert not asks(UNSAID[what])


def test_a_constant_that_is_put_together_elsewhere_may_be_any() -> None:
    rows = f"LOAD_FAST 'a'\nLOAD_FAST 'a'\nLOAD_FAST 'a'\nMATCH_CLASS 0\nPOP\n{RETURNED}"
    assert asks(rows)
    assert not asks(rows, "def f(a): return a, ('a b', 'c')")
    assert asks(rows, "def f(a): return a, ('a', 'c')")


@pytest.mark.parametrize(("name", "is_said"), [("f", True), ("a b", False), ("<lambda>", True), ("<class>", False)])
def test_the_name_of_the_code_counts_unless_it_is_made_up(name: str, is_said: bool) -> None:
    code = code_of("def f(a): pass")
    code.name = name
    assert are_writable([read_listing(code, RETURNED)]) is is_said


@pytest.mark.parametrize("field", ["names", "varnames", "cellvars", "freevars"])
def test_all_names_of_a_code_count(field: str) -> None:
    code = code_of("def f(a): pass")
    listing = read_listing(code, RETURNED)
    setattr(code, field, ("a.b", ".0", "class_"))
    assert are_writable([listing])
    setattr(code, field, ("a", "a b"))
    assert not are_writable([listing])


def renamed(tree: ast.Module) -> str:
    write_identifiers(tree.body, lambda name: f"no_{len(name)}")
    return ast.unparse(tree)


SOURCE = """
import a.b as c
from a.b import *
def f(a, *b, key=1, **c):
    global d
    try:
        a.b(key=c)
    except E as e:
        class C: pass
    async def g():
        nonlocal a
    match a:
        case [f, *b] | {1: _, **c} | D(x=1) | _:
            pass
"""


def test_what_can_be_said_stays() -> None:
    tree = ast.parse(SOURCE)
    before = ast.unparse(tree)
    assert renamed(tree) == before


NODES = {
    "ast.Attribute(ast.Name('a b'), 'c d e')": "no_3.no_5",
    "ast.Call(ast.Name('f'), [], [ast.keyword('a b', ast.Name('c'))])": "f(no_3=c)",
    "ast.Call(ast.Name('f'), [], [ast.keyword(None, ast.Name('c d'))])": "f(**no_3)",
    "ast.Global(['a', 'b c'])": "global a, no_3",
    "ast.Nonlocal(['b c', 'a'])": "nonlocal no_3, a",
    "ast.Import([ast.alias('a.b c.d')])": "import a.no_3.d",
    "ast.Import([ast.alias('a', 'b c')])": "import a as no_3",
    "ast.ImportFrom('a.b c', [ast.alias('*')], 0)": "from a.no_3 import *",
    "ast.ImportFrom(None, [ast.alias('b c')], 1)": "from . import no_3",
    "ast.Name('a.b')": "no_3",
    "ast.Name('*')": "no_1",
    "ast.ClassDef('a b', [], [], [ast.Pass()], [])": "class no_3:\n    pass",
    "ast.Tuple([ast.Name('a b'), ast.Name('c')])": "(no_3, c)",
}


@pytest.mark.parametrize("node", NODES)
def test_what_cannot_be_said_is_replaced(node: str) -> None:
    value = eval(node)
    stmt = value if isinstance(value, ast.stmt) else ast.Expr(value)
    assert renamed(ast.fix_missing_locations(ast.Module([stmt], []))) == NODES[node]


def test_a_node_that_stands_twice_is_replaced_once() -> None:
    name = ast.Name("a b", ast.Load())
    write_identifiers([ast.Expr(ast.Tuple([name, name], ast.Load()))], lambda name: f"{name}+")
    assert name.id == "a b+"
