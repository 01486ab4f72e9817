"""Change a source a little, at random: statements go, come twice, change places or stand in others; so do expressions.

What the library and the tests hold seldom misses a rule by one condition alone; what is varied does.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Callable, Iterator

from tests.quality.forms.operations import MARK, varied_operations

MOST_CHANGES = 3
LONGEST = 900
"""Characters of a source."""
BODIES = ("body", "orelse", "finalbody")
STATEMENTS = (
    "pass", "return", "return a", "return None", "break", "continue", "raise", "raise a", "a = b", "a()", "del a",
    "a, b = c", "a = b = c()", "a[b] += 1", "a.b = c", "assert a, b", "global g", "yield a", "import a.b as c",
    "x: int = 1", "with a as b: c()", "for a in b: c()", "while a: b()", "if a: b()", "def g(): return a",
    "try: a()\nexcept E as e: b(e)", "try: a()\nfinally: b()", "match a:\n case [b, *_]: c()\n case 1 | 2: d()",
    "if a:\n return b\nelse: c()", "while True:\n a()\n if b: break", "async def g(): await a",
)
AROUND = (
    "if a: pass", "if a: b()\nelse: pass", "while a: pass", "while True: pass", "for a in b: pass", "with a: pass",
    "try: pass\nexcept E: b()", "try: pass\nexcept E as e: return", "try: pass\nfinally: a()", "def g(): pass",
    "for a in b: pass\nelse: c()", "if not a: return\nelse: pass", "match a:\n case 1: pass\n case _: pass",
)
EXPRESSIONS = (
    "a", "None", "True", "0", "1", "''", "'a'", "()", "[]", "{}", "a.b", "a[0]", "a[b:c]", "a()", "a(b, *c, d=1)",
    "[a for a in b]", "{a: b for a, b in c if a}", "(a for a in b)", "lambda a: a", "f'{a!r}{b:{c}}'", "(a := b)",
    "[a, b]", "{a, b}", "{'a': b, **c}", "(1, 2)", "-a", "a + b", "a is None", "a not in b", "a < b < c", "...",
    "super().a", "__class__", "__debug__", "1.5", "-1", "b'a'", "(*a, b)", "(yield)", "any(a for a in b)",
)
OVER = ("not x", "x and a", "a and x", "x or a", "a or x", "x if a else b", "a if x else b", "a if b else x", "f(x)",
        "(b := x)", "x == a", "a < x < b", "x.a", "x[a]", "[x]", "(x, a)", "a.b(x)", "f'{x}'", "-x", "x + a", "await x")


def varied(source: str, others: list[str], rng: random.Random) -> str | None:
    """Return a source with a few changes, or None where none of them gives a source.

    others: sources from which statements are taken too.
    """
    head, mark, rows = source.partition(MARK)
    if mark:
        return head + mark + varied_operations(rows, rng)
    try:
        tree = ast.parse(source)
        for _ in range(rng.randrange(1, MOST_CHANGES + 1)):
            rng.choice(CHANGES)(tree, others, rng)
        text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    except (SyntaxError, ValueError, AttributeError, IndexError, TypeError, RecursionError):
        return None
    return text if text != source and len(text) < LONGEST else None


def _bodies(tree: ast.Module) -> list[list[ast.stmt]]:
    bodies = [getattr(node, name, None) for node in ast.walk(tree) for name in BODIES]
    return [body for body in bodies if isinstance(body, list) and body]


def _places(tree: ast.Module) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Yield where expressions stand that are read."""
    for node in ast.walk(tree):
        for name, held in ast.iter_fields(node):
            parts = list(enumerate(held)) if isinstance(held, list) else [(None, held)]
            for number, child in parts:
                if isinstance(child, ast.expr) and isinstance(getattr(child, "ctx", ast.Load()), ast.Load):
                    yield node, name, number


def _put(place: tuple[ast.AST, str, int | None], expr: ast.expr) -> None:
    node, name, number = place
    if number is None:
        setattr(node, name, expr)
    else:
        getattr(node, name)[number] = expr


def _held(place: tuple[ast.AST, str, int | None]) -> ast.expr:
    node, name, number = place
    held = getattr(node, name)
    expression: ast.expr = held if number is None else held[number]
    return expression


def _drop(tree: ast.Module, others: list[str], rng: random.Random) -> None:
    body = rng.choice(_bodies(tree))
    del body[rng.randrange(len(body))]
    body[:] = body or [ast.Pass()]


def _twice(tree: ast.Module, others: list[str], rng: random.Random) -> None:
    bodies = _bodies(tree)
    rng.choice(bodies).insert(0, copy.deepcopy(rng.choice(rng.choice(bodies))))


def _swap(tree: ast.Module, others: list[str], rng: random.Random) -> None:
    body = rng.choice(_bodies(tree))
    place = rng.randrange(len(body))
    body[place : place + 2] = reversed(body[place : place + 2])


def _lift(tree: ast.Module, others: list[str], rng: random.Random) -> None:
    body = rng.choice(_bodies(tree))
    place = rng.randrange(len(body))
    body[place : place + 1] = getattr(body[place], "body", [])
    body[:] = body or [ast.Pass()]


def _insert(tree: ast.Module, others: list[str], rng: random.Random) -> None:
    body = rng.choice(_bodies(tree))
    place = rng.randrange(len(body) + 1)
    body[place:place] = ast.parse(rng.choice(STATEMENTS)).body


def _replace(tree: ast.Module, others: list[str], rng: random.Random) -> None:
    body = rng.choice(_bodies(tree))
    place = rng.randrange(len(body))
    body[place : place + 1] = ast.parse(rng.choice(STATEMENTS)).body


def _take(tree: ast.Module, others: list[str], rng: random.Random) -> None:
    body = rng.choice(_bodies(tree))
    place = rng.randrange(len(body) + 1)
    body[place:place] = rng.choice(_bodies(ast.parse(rng.choice(others).partition(MARK)[0])))[:3]


def _wrap(tree: ast.Module, others: list[str], rng: random.Random) -> None:
    body = rng.choice(_bodies(tree))
    place = rng.randrange(len(body))
    end = place + rng.randrange(1, 3)
    around = ast.parse(rng.choice(AROUND)).body
    empty = [inner for inner in [around, *_bodies(ast.Module(around, []))] if isinstance(inner[0], ast.Pass)]
    empty += [case.body for node in around if isinstance(node, ast.Match) for case in node.cases]
    rng.choice(empty)[:] = body[place:end]
    body[place:end] = around


def _alternative(tree: ast.Module, others: list[str], rng: random.Random) -> None:
    """Give a statement an `else` or take it, or change the two arms."""
    node = rng.choice([node for node in ast.walk(tree) if hasattr(node, "orelse") and isinstance(node, ast.stmt)])
    match rng.randrange(3):
        case 0:
            node.orelse = ast.parse(rng.choice(STATEMENTS)).body  # type: ignore[attr-defined]
        case 1:
            node.orelse = []  # type: ignore[attr-defined]
        case _ if node.orelse:  # type: ignore[attr-defined]
            node.body, node.orelse = node.orelse, node.body  # type: ignore[attr-defined]


def _expression(tree: ast.Module, others: list[str], rng: random.Random) -> None:
    place = rng.choice(list(_places(tree)))
    if rng.random() < 0.4:
        _put(place, copy.deepcopy(_held(rng.choice(list(_places(tree))))))
    else:
        _put(place, ast.parse(rng.choice(EXPRESSIONS), mode="eval").body)


def _over(tree: ast.Module, others: list[str], rng: random.Random) -> None:
    place = rng.choice(list(_places(tree)))
    expr = ast.parse(rng.choice(OVER), mode="eval").body
    hole = next(spot for spot in _places(ast.Module([ast.Expr(expr)], [])) if _is_hole(_held(spot)))
    _put(hole, _held(place))
    _put(place, expr)


def _is_hole(expr: ast.expr) -> bool:
    return isinstance(expr, ast.Name) and expr.id == "x"


def _operator(tree: ast.Module, others: list[str], rng: random.Random) -> None:
    node = rng.choice([node for node in ast.walk(tree) if isinstance(node, ast.BoolOp | ast.Compare | ast.Constant)])
    if isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.Compare):
        node.ops[0] = rng.choice([ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn, ast.Lt])()
    else:
        node.value = rng.choice([None, True, False, 0, 1, -1, "a", "", b"a", 1.5, ...])


def _name(tree: ast.Module, others: list[str], rng: random.Random) -> None:
    """Give one name the place of another."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    rng.choice(names).id = rng.choice(names).id


CHANGES: tuple[Callable[[ast.Module, list[str], random.Random], None], ...] = (
    _drop, _twice, _swap, _lift, _insert, _insert, _replace, _take, _wrap, _wrap, _alternative, _expression,
    _expression, _over, _over, _operator, _name,
)
