"""EXACT agrees with benchmarks/roundtrip, is never laxer, and each of its rules is needed."""

from __future__ import annotations

import ast
import copy
import random
import sys
import sysconfig
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from depyf.bytecode.listing import Listing
from depyf.bytecode.normalise import normalise
from depyf.bytecode.reader import read
from depyf.verify import exact, header, paths
from depyf.verify.compare import verify
from depyf.verify.exact import compare_paths
from depyf.verify.flow import Flow
from depyf.verify.level import Level
from tests.quality.mutations import KINDS
from tests.verify.assemble import assemble, view

sys.path.append(str(Path(__file__).parents[2] / "benchmarks" / "roundtrip"))
import normal  # noqa: E402  (a tool that stands alone, found by the line above)

LIBRARY = Path(sysconfig.get_path("stdlib"))
MODULES = ["contextlib", "copy", "heapq", "json/decoder", "queue", "shlex"]


def compiled(tree: ast.AST) -> types.CodeType:
    """Compile a module's tree."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code: types.CodeType = compile(ast.unparse(tree), "<module>", "exec", dont_inherit=True, optimize=0)
    return code


def relined(tree: ast.Module) -> types.CodeType:
    """Compile a tree as if each node stood on a line of its own."""
    tree = copy.deepcopy(tree)
    for number, node in enumerate(ast.walk(tree)):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = number + 1  # type: ignore[attr-defined]
            node.col_offset = node.end_col_offset = 0  # type: ignore[attr-defined]
    code: types.CodeType = compile(tree, "<module>", "exec", dont_inherit=True, optimize=0)
    return code


def pairs(first: types.CodeType, other: types.CodeType) -> Iterator[tuple[types.CodeType, types.CodeType]]:
    """Yield the code objects of two compilations of one tree that correspond."""
    pending = [(first, other)]
    while pending:
        pair = pending.pop()
        yield pair
        inner = [[const for const in code.co_consts if isinstance(const, types.CodeType)] for code in pair]
        names = [[code.co_name for code in codes] for codes in inner]
        if names[0] == names[1]:
            pending.extend(zip(*inner, strict=True))


def is_exact(first: types.CodeType, other: types.CodeType) -> bool:
    """Return the verifier's answer."""
    pending = [(read(first), read(other))]
    while pending:
        mine, its = pending.pop()
        comparison = compare_paths(Flow(normalise(mine)), Flow(normalise(its)))
        if header.nested_difference(mine, its) or comparison.reason:
            return False
        pending.extend(comparison.nested)
    return True


@pytest.mark.parametrize("name", MODULES)
def test_line_numbers_change_nothing(name: str) -> None:
    tree = ast.parse((LIBRARY / f"{name}.py").read_bytes())
    count = 0
    for first, other in pairs(compiled(tree), relined(ast.parse(ast.unparse(tree)))):
        count += 1
        judged = normal.same_code(first, other, True)
        assert is_exact(first, other) == (judged.exact and judged.doc), (first, judged.reason)
    assert count > 5


@pytest.mark.parametrize("name", MODULES[:3])
def test_it_is_never_laxer_than_the_roundtrip_tool(name: str) -> None:
    chance = random.Random(name)
    original = ast.parse((LIBRARY / f"{name}.py").read_bytes())
    code = compiled(original)
    judged = []
    for kind in KINDS.values():
        for _ in range(2):
            tree = copy.deepcopy(original)
            sites = list(kind(tree))
            if not sites:
                continue
            chance.choice(sites)()
            try:
                other = compiled(ast.fix_missing_locations(tree))
            except SyntaxError:
                continue
            theirs = normal.same_code(code, other, True)
            assert theirs.exact and theirs.doc or not is_exact(code, other), ast.unparse(tree)
            judged.append(theirs.exact)
    assert len(judged) > 15
    assert not all(judged)


def source(text: str) -> Listing:
    """Return the listing of a function's text."""
    return normalise(view(text))


def without_handlers(self: paths.Paths, place: int) -> None:
    """Forget who handles an exception."""


Take = Callable[[pytest.MonkeyPatch], None]
PROTECTED = "protect handler {}\nLOAD_FAST a\nGET_ITER\nRETURN\nend\nhandler: RERAISE 0"
NEAR_MISSES: dict[str, tuple[Listing, Listing, Take]] = {
    "constants by type": (
        source("def f(a, b): return 1"),
        source("def f(a, b): return True"),
        lambda monkeypatch: monkeypatch.setattr(paths, "key", lambda value: value),
    ),
    "the sign of zero": (
        source("def f(a, b): return 0.0"),
        source("def f(a, b): return -0.0"),
        lambda monkeypatch: monkeypatch.setattr(paths, "key", lambda value: value),
    ),
    "handlers": (
        source("def f(a, b):\n try: a()\n except: b()"),
        source("def f(a, b):\n try: a()\n except: a()"),
        lambda monkeypatch: monkeypatch.setattr(paths.Paths, "handler", without_handlers),
    ),
    "how a handler is entered": (
        assemble(PROTECTED.format("0")),
        assemble(PROTECTED.format("0 lasti")),
        lambda monkeypatch: monkeypatch.setattr(exact, "entry", lambda handler: (0, False, False)),
    ),
    "which way a test goes": (
        source("def f(a, b):\n if a: return 1\n return 2"),
        source("def f(a, b):\n if not a: return 1\n return 2"),
        lambda monkeypatch: monkeypatch.setattr(paths.Paths, "test_step", one_way),
    ),
    "where moved values end": (
        source("def f(a, b): a, b = b(), a()"),
        source("def f(a, b): b, a = b(), a()"),
        lambda monkeypatch: monkeypatch.setattr(paths.Paths, "moves", skipped),
    ),
}


def one_way(self: paths.Paths, test: paths.Test) -> paths.Step:
    """Follow the next instruction first, whatever the polarity."""
    return paths.Step(("TEST",), (self.settle(test.after), self.settle(test.target)))


def skipped(self: paths.Paths, place: int) -> paths.Step:
    """Take any move for any other."""
    return paths.Step(("MOVE",), (self.settle(place + 1),))


@pytest.mark.parametrize("rule", NEAR_MISSES)
def test_each_rule_is_needed(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    original, candidate, without = NEAR_MISSES[rule]
    assert compare_paths(Flow(original), Flow(candidate)).reason is not None
    without(monkeypatch)
    assert compare_paths(Flow(original), Flow(candidate)).reason is None


SAME = {
    "polarity": ("def f(a):\n if a: return 1\n return 2", "def f(a):\n if not a: return 2\n return 1"),
    "order of stores": ("def f(a): x, y = a(), a()", "def f(a):\n x, \\\n y = a(), a()"),
}
OTHER = {
    "another parameter": ("def f(a): pass", "def f(b): pass"),
    "keyword-only": ("def f(a): pass", "def f(*, a): pass"),
    "a generator": ("def f(a): return 1", "def f(a):\n return 1\n yield"),
    "a temporary": ("def f(a): return a + 1", "def f(a):\n x = a + 1\n return x"),
    "a docstring": ("def f(a): 'one'", "def f(a): 'two'"),
    "an inner docstring": ("def f(a):\n def g(): 'one'\n return g", "def f(a):\n def g(): 'two'\n return g"),
    "an inner name": ("def f(a):\n def g(): 1\n return g", "def f(a):\n def h(): 1\n return h"),
    "a cell": ("def f(a):\n x = a\n return x", "def f(a):\n x = a\n lambda: x\n return x"),
    "a method call": ("def f(a): return a.b()", "def f(a): return (a.b)(*())"),
}


@pytest.mark.parametrize("what", SAME)
def test_what_source_cannot_fix_is_exact(what: str) -> None:
    first, other = (view(text) for text in SAME[what])
    assert verify(first, other).level is Level.EXACT


@pytest.mark.parametrize("what", OTHER)
def test_anything_else_is_not(what: str) -> None:
    first, other = (view(text) for text in OTHER[what])
    assert verify(first, other).level < Level.EXACT


def test_the_method_form_is_not_the_plain_form() -> None:
    module = "import m\ndef f(a): return m.g(a)"
    plain = next(c for c in compile(module, "<test>", "exec").co_consts if isinstance(c, types.CodeType))
    method = view("def f(a): return m.g(a)")
    assert verify(read(plain), method).level is Level.EQUIVALENT


def test_objects_without_a_literal_are_the_same_by_identity() -> None:
    code = view("def f(a): return 1000").origin
    assert code is not None
    first, second = ({"same": 1}, {"same": 1})
    codes = [code.replace(co_consts=(None, thing)) for thing in (first, first, second)]
    assert verify(read(codes[0]), read(codes[1])).level is Level.EXACT
    assert verify(read(codes[0]), read(codes[2])).level is Level.UNPROVEN
