"""Find out by a function's source what a string or a flag is for: whether a tensor could take its place."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable

from depyf.model.syntax import nodes_below, normal, parsed, values_in

_OF_LOOKUP = frozenset(("get", "pop", "index", "startswith", "endswith", "count", "split", "info", "debug", "warning"))
"""Methods that look up, compare or report a string, which a program can do before the call."""
_DISPLAYS = (ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Constant)


@functools.lru_cache(maxsize=256)
def is_text_of_call(subject: str, source: str) -> bool:
    """Return whether a call needs a string as such, or the string selects the function that is called.

    >>> is_text_of_call("device", "def f(x, device):\\n    return x.to(device)")
    True
    >>> is_text_of_call("kind", "def f(x, kind):\\n    return x * FACTORS[kind]")
    False

    Args:
        subject: the string, as the program writes it.
        source: the source of the function.
    """
    name = normal(subject)
    for call in (node for node in nodes_below(parsed(source)) if isinstance(node, ast.Call)):
        match call.func:
            case ast.Attribute(attr=method) if method in _OF_LOOKUP:
                continue
            case ast.Attribute() | ast.Name(id="getattr"):
                given = [*call.args, *(keyword.value for keyword in call.keywords)]
                if any(ast.unparse(value) == name for value in given):
                    return True
            case ast.Subscript(slice=key) if ast.unparse(key) == name:
                return True
    return False


@functools.lru_cache(maxsize=256)
def shapes_result(subject: str, source: str) -> bool:
    """Return whether a flag decides about more than values: what is called, collected, raised, or a shape.

    >>> shapes_result("flag", "def f(x, flag):\\n    if flag:\\n        x = x * 2\\n    return x")
    False
    >>> shapes_result("flag", "def f(x, flag):\\n    return (x, 1) if flag else x")
    True

    Args:
        subject: the flag, as the program writes it.
        source: the source of the function.
    """
    name = normal(subject)
    return any(_decides_more(node, name) for node in nodes_below(parsed(source)))


def _decides_more(node: ast.AST, name: str) -> bool:
    match node:
        case ast.If() if name in values_in(node.test):
            is_value = all(map(_gives_value, (*node.body, *node.orelse)))
            return not is_value or _operations(node.body) != _operations(node.orelse)
        case ast.IfExp() if name in values_in(node.test):
            is_display = isinstance(node.body, _DISPLAYS) or isinstance(node.orelse, _DISPLAYS)
            return is_display or _operations([node.body]) != _operations([node.orelse])
        case ast.While() | ast.Assert():
            return name in values_in(node.test)
        case ast.Call():
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            return any(ast.unparse(value) == name for value in given)
    return False


_RESHAPING = frozenset((
    "all", "amax", "amin", "any", "argmax", "argmin", "cat", "chunk", "expand", "flatten", "gather", "mean", "norm",
    "permute", "prod", "repeat", "reshape", "split", "squeeze", "stack", "std", "sum", "topk", "transpose", "unsqueeze",
    "var", "view",
))  # fmt: skip
"""Methods whose result mostly has another shape than the tensor. `torch.where` needs two results of one shape."""


def _operations(nodes: Iterable[ast.AST]) -> list[str]:
    """Return the operations in one side of a branch that change a shape, sorted; an index counts as one."""
    below = [node for part in nodes for node in nodes_below(part)]
    calls = (node.func for node in below if isinstance(node, ast.Call))
    called = [function.attr for function in calls if isinstance(function, ast.Attribute)]
    indexed = ["[]" for node in below if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)]
    return sorted([*indexed, *(name for name in called if name in _RESHAPING)])


def _gives_value(statement: ast.stmt) -> bool:
    """Return whether a statement of a branch assigns or returns one value, and no container."""
    match statement:
        case ast.Assign(value=value) | ast.AugAssign(value=value) | ast.Return(value=ast.expr() as value):
            return not isinstance(value, _DISPLAYS)
        case ast.If():
            return all(map(_gives_value, (*statement.body, *statement.orelse)))
    return False


@functools.lru_cache(maxsize=256)
def selects_code(subject: str, source: str) -> bool:
    """Return whether a branch on a string runs other operations, instead of choosing one of two constants.

    >>> selects_code("kind", "def f(x, kind):\\n    return x.relu() if kind == 'relu' else x.tanh()")
    True
    >>> selects_code("kind", "def f(x, kind):\\n    return x * (2.0 if kind == 'twice' else 1.0)")
    False

    Args:
        subject: the string, as the program writes it.
        source: the source of the function.
    """
    name = normal(subject)
    for node in nodes_below(parsed(source)):
        match node:
            case ast.IfExp(test=test, body=body, orelse=orelse) if name in values_in(test):
                if not (isinstance(body, ast.Constant) and isinstance(orelse, ast.Constant)):
                    return True
            case ast.If(test=test, body=statements, orelse=others) if name in values_in(test):
                if not all(map(_assigns_constant, (*statements, *others))):
                    return True
    return False


def _assigns_constant(statement: ast.stmt) -> bool:
    """Return whether a statement assigns a constant, or is a branch whose arms do."""
    if isinstance(statement, ast.If):
        return all(map(_assigns_constant_alone, (*statement.body, *statement.orelse)))
    return _assigns_constant_alone(statement)


def _assigns_constant_alone(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)


@functools.lru_cache(maxsize=256)
def flag_of(subject: str, source: str) -> str:
    """Return the condition of the only branch that reads a value, or "" if the function needs the value elsewhere.

    The caller can compute such a condition, because it names nothing else. A flag has two values, however many the
    number or the string has.

    >>> flag_of("step", "def f(x, step):\\n    if step % 2 == 0:\\n        x = x * 2\\n    return x")
    'step % 2 == 0'
    >>> flag_of("n", "def f(x, n):\\n    return x * n if n > 1 else x")
    ''

    Args:
        subject: the value, as the program writes it.
        source: the source of the function.
    """
    name, nodes = normal(subject), nodes_below(parsed(source))
    tests = [node.test for node in nodes if isinstance(node, (ast.If, ast.IfExp)) and name in values_in(node.test)]
    if len(tests) != 1 or isinstance(tests[0], (ast.Name, ast.Attribute, ast.Subscript, ast.UnaryOp)):
        return ""
    names = {node.id for node in nodes_below(tests[0]) if isinstance(node, ast.Name)}
    is_alone = names == {name.partition(".")[0].partition("[")[0]}
    return ast.unparse(tests[0]) if is_alone and _reads(nodes, name) == _reads(nodes_below(tests[0]), name) else ""


def _reads(nodes: list[ast.AST], name: str) -> int:
    """Return how many of some nodes are a value itself."""
    values = (node for node in nodes if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)))
    return sum(ast.unparse(node) == name for node in values)
