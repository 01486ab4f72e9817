"""Wrong versions of a function: one small change each, of the kinds that decompilers get wrong.

Each kind has a function that finds its sites in a tree and yields for each an action that changes the tree in place.
"""

from __future__ import annotations

import ast
import copy
import functools
from collections.abc import Callable, Iterator
from typing import TypeVar

Action = Callable[[], None]
Finder = Callable[[ast.AST], Iterator[Action]]
Item = TypeVar("Item")

WIDER: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
EFFECTS = (ast.Expr, ast.Assign, ast.AugAssign, ast.Delete, ast.Raise, ast.Assert, ast.Import, ast.ImportFrom)


def every(tree: ast.AST, kind: type[Item]) -> Iterator[Item]:
    """Yield the nodes of one type."""
    for node in ast.walk(tree):
        if isinstance(node, kind):
            yield node


def bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the lists of statements."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body:
                yield body


def is_docstring(node: ast.stmt) -> bool:
    """Return whether a statement is a constant by itself, which compiles to nothing."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def exchange(items: list[Item], first: int, second: int) -> Action:
    """Return the action that exchanges two items of a list."""

    def act() -> None:
        items[first], items[second] = items[second], items[first]

    return act


def put(node: object, name: str, value: object) -> Action:
    """Return the action that sets an attribute."""
    return lambda: setattr(node, name, value)


def replace(items: list[Item], place: int, new: Item) -> Action:
    """Return the action that replaces an item of a list."""
    return lambda: items.__setitem__(place, new)


def insert(items: list[Item], place: int, new: Item) -> Action:
    """Return the action that inserts an item into a list."""
    return lambda: items.insert(place, new)


def move(source: list[Item], target: list[Item], count: int) -> Action:
    """Return the action that moves the last items of one list to the end of another."""

    def act() -> None:
        target.extend(source[-count:])
        del source[-count:]

    return act


def both(*actions: Action) -> Action:
    """Return the action that does several."""

    def act() -> None:
        for action in actions:
            action()

    return act


def swapped_operands(tree: ast.AST) -> Iterator[Action]:
    """Swap operands: `a - b` to `b - a`, `f(a, b)` to `f(b, a)`, `a < b` to `b < a`."""
    for sum_ in every(tree, ast.BinOp):
        if ast.dump(sum_.left) != ast.dump(sum_.right) and not both_constant(sum_.left, sum_.right):
            yield both(put(sum_, "left", sum_.right), put(sum_, "right", sum_.left))
    for call in every(tree, ast.Call):
        if len(call.args) > 1 and ast.dump(call.args[0]) != ast.dump(call.args[1]):
            yield exchange(call.args, 0, 1)
    for test in every(tree, ast.Compare):
        if len(test.ops) == 1 and ast.dump(test.left) != ast.dump(test.comparators[0]):
            if not isinstance(test.ops[0], (ast.Is, ast.IsNot)):
                yield both(put(test, "left", test.comparators[0]), put(test, "comparators", [test.left]))


def both_constant(first: ast.expr, second: ast.expr) -> bool:
    """Return whether the compiler may compute an operation of the two."""
    return isinstance(first, ast.Constant) and isinstance(second, ast.Constant)


def changed_conditions(tree: ast.AST) -> Iterator[Action]:
    """Change conditions: `if c` to `if not c`, `and` to `or`, `<` to `<=`."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.If, ast.While, ast.IfExp)) and not isinstance(node.test, ast.Constant):
            yield put(node, "test", ast.UnaryOp(ast.Not(), node.test))
    for operator in every(tree, ast.BoolOp):
        yield put(operator, "op", ast.Or() if isinstance(operator.op, ast.And) else ast.And())
    for test in every(tree, ast.Compare):
        for place, op in enumerate(test.ops):
            if type(op) in WIDER:
                yield replace(test.ops, place, WIDER[type(op)]())


def dropped_effects(tree: ast.AST) -> Iterator[Action]:
    """Leave a statement out."""
    for body in bodies(tree):
        for place, node in enumerate(body):
            if isinstance(node, EFFECTS) and not is_docstring(node):
                yield replace(body, place, ast.Pass())


def doubled_effects(tree: ast.AST) -> Iterator[Action]:
    """Do a statement twice."""
    for body in bodies(tree):
        for place, node in enumerate(body):
            if isinstance(node, (ast.Expr, ast.AugAssign)) and not is_docstring(node):
                yield insert(body, place, copy.deepcopy(node))


def reordered_effects(tree: ast.AST) -> Iterator[Action]:
    """Exchange two statements in a row."""
    for body in bodies(tree):
        for place in range(len(body) - 1):
            pair = body[place : place + 2]
            if all(isinstance(node, EFFECTS) and not is_docstring(node) for node in pair):
                yield exchange(body, place, place + 1)


def changed_constants(tree: ast.AST) -> Iterator[Action]:
    """Change constants: `1` to `2`, `True`, `1.0`; another text; another singleton."""
    inside = {id(part) for text in every(tree, ast.JoinedStr) for part in ast.walk(text)}
    statements = {id(node.value) for node in every(tree, ast.Expr)}
    for node in every(tree, ast.Constant):
        if id(node) in inside or id(node) in statements:
            continue
        value = node.value
        others: list[object] = []
        if type(value) is int:
            others = [value + 1, float(value), *([bool(value)] if value in (0, 1) else [])]
        elif isinstance(value, str):
            others = [value + "x"]
        elif isinstance(value, bytes):
            others = [value + b"x"]
        elif value is None or isinstance(value, bool):
            others = [not value]
        elif isinstance(value, float):
            others = [-value]
        for other in others:
            yield put(node, "value", other)


def changed_names(tree: ast.AST) -> Iterator[Action]:
    """Name another variable, global, attribute or keyword."""
    names = sorted({node.arg for node in every(tree, ast.arg)})
    for load in every(tree, ast.Name):
        if isinstance(load.ctx, ast.Load):
            others = [name for name in names if name != load.id]
            yield put(load, "id", others[len(load.id) % len(others)] if others else load.id + "_x")
    for attribute in every(tree, ast.Attribute):
        yield put(attribute, "attr", attribute.attr + "_x")
    for word in every(tree, ast.keyword):
        if word.arg is not None:
            yield put(word, "arg", word.arg + "_x")


def wrong_handlers(tree: ast.AST) -> Iterator[Action]:
    """Catch something else, in another order, not at all, or protect more or less."""
    for node in every(tree, ast.Try):
        for handler in node.handlers:
            yield put(handler, "type", ast.Name("Unlikely", ast.Load()))
        if len(node.handlers) > 1 and node.handlers[-1].type is not None:
            yield exchange(node.handlers, 0, 1)
        if node.handlers and node.finalbody:
            yield put(node, "handlers", [])
            yield put(node, "finalbody", [])
        if len(node.body) > 1 and not node.orelse and node.handlers:
            yield move(node.body, node.orelse, 1)
        if node.orelse:
            yield move(node.orelse, node.body, len(node.orelse))
        if node.finalbody and not node.handlers:
            yield both(put(node, "handlers", [catch_all(node)]), put(node, "finalbody", []))


def catch_all(node: ast.Try) -> ast.ExceptHandler:
    """Return a handler that does what `finally` does, but swallows the exception."""
    return ast.ExceptHandler(type=None, name=None, body=copy.deepcopy(node.finalbody))


def wrong_loop_exits(tree: ast.AST) -> Iterator[Action]:
    """Leave loops otherwise: `break` to `continue` and back, no `else`, one round only."""
    for body in bodies(tree):
        for place, node in enumerate(body):
            if isinstance(node, (ast.Break, ast.Continue)):
                other = ast.Continue() if isinstance(node, ast.Break) else ast.Break()
                yield replace(body, place, other)
            if isinstance(node, (ast.For, ast.While)):
                if node.orelse:
                    yield put(node, "orelse", [])
                yield insert(node.body, len(node.body), ast.Break())


def moved_reads(tree: ast.AST) -> Iterator[Action]:
    """Read where a variable is used what was to be read where it is set, past what stands between."""
    for body in bodies(tree):
        for place, node in enumerate(body[:-2]):
            if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
                continue
            if not any(isinstance(part, (ast.Attribute, ast.Subscript, ast.Call)) for part in ast.walk(node.value)):
                continue
            name = node.targets[0].id
            for later in body[place + 2 :]:
                uses = [use for use in every(later, ast.Name) if use.id == name]
                if uses:
                    if len(uses) == 1 and isinstance(uses[0].ctx, ast.Load):
                        yield functools.partial(inline, body, place, uses[0])
                    break


def inline(body: list[ast.stmt], place: int, use: ast.Name) -> None:
    """Put the value that a statement assigns where it is used, and leave the statement out."""
    assign = body[place]
    assert isinstance(assign, ast.Assign)
    replace_node(body, use, assign.value)
    body[place] = ast.Pass()


def replace_node(body: list[ast.stmt], old: ast.expr, new: ast.expr) -> None:
    """Replace one expression somewhere in statements."""
    for statement in body:
        for parent in ast.walk(statement):
            for name, value in ast.iter_fields(parent):
                if value is old:
                    setattr(parent, name, new)
                elif isinstance(value, list):
                    value[:] = [new if item is old else item for item in value]


def wrong_values(tree: ast.AST) -> Iterator[Action]:
    """Change values: no return value, targets in another order, a list for a tuple, an argument not unpacked."""
    for end in every(tree, ast.Return):
        if end.value is not None and not (isinstance(end.value, ast.Constant) and end.value.value is None):
            yield put(end, "value", None)
    for assign in every(tree, ast.Assign):
        target = assign.targets[0]
        if isinstance(target, ast.Tuple) and len({ast.dump(part) for part in target.elts}) > 1:
            yield target.elts.reverse
    for call in every(tree, ast.Call):
        for place, argument in enumerate(call.args):
            if isinstance(argument, ast.Starred):
                yield replace(call.args, place, argument.value)
            if isinstance(argument, ast.Tuple) and argument.elts:
                yield replace(call.args, place, ast.List(argument.elts, ast.Load()))


KINDS: dict[str, Finder] = {
    finder.__name__.replace("_", " "): finder
    for finder in (
        swapped_operands,
        changed_conditions,
        dropped_effects,
        doubled_effects,
        reordered_effects,
        changed_constants,
        changed_names,
        wrong_handlers,
        wrong_loop_exits,
        moved_reads,
        wrong_values,
    )
}
