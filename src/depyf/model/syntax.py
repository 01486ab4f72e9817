"""Walks over syntax trees of long texts: a graph of a large model has hundreds of thousands of nodes."""

from __future__ import annotations

import ast
import functools
import textwrap
from collections.abc import Iterator

_NO_NODES = frozenset(("ctx", "op", "ops", "id", "attr", "kind", "type_comment"))


def nodes_below(tree: ast.AST) -> list[ast.AST]:
    """Return a tree and all nodes below it, parents before their children and siblings in order.

    This is four times as fast as `ast.walk`. It leaves out nodes that only stand for an operator or a context.
    """
    nodes = [tree]
    for node in nodes:
        nodes += children(node)
    return nodes


def children(node: ast.AST) -> list[ast.AST]:
    """Return the children of a node, in order, without nodes that only stand for an operator or a context."""
    child_nodes: list[ast.AST] = []
    kind = type(node)
    names = _FIELDS.get(kind)
    for name in names if names is not None else _FIELDS.setdefault(kind, _fields(kind)):
        value = getattr(node, name, None)
        if type(value) is list:
            child_nodes += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            child_nodes.append(value)
    return child_nodes


def names_in(node: ast.AST) -> list[str]:
    """Return the names in an expression, with repetitions."""
    return [name_node.id for name_node in nodes_below(node) if isinstance(name_node, ast.Name)]


_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}


def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """Return the fields of a node type that hold nodes which `children` returns."""
    return () if issubclass(kind, ast.Constant) else tuple(field for field in kind._fields if field not in _NO_NODES)


def statements_below(tree: ast.AST) -> list[ast.stmt]:
    """Return the statements of a tree, including nested ones, in no order."""
    statements: list[ast.stmt] = []
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.stmt):
            statements.append(node)
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            inside = getattr(node, name, None)
            pending += inside if isinstance(inside, list) else []
    return statements


def is_in_try(source: str, line: int) -> bool:
    """Return whether a `try` protects a line of a function's source, counted from 1.

    >>> is_in_try("def f():\\n    try:\\n        g()\\n    except E:\\n        h()", 3)
    True
    """
    tree = parsed(source)
    guarded = (statement.body for statement in statements_below(tree) if isinstance(statement, ast.Try))
    return any(body[0].lineno <= line <= (body[-1].end_lineno or body[-1].lineno) for body in guarded)


def decides(subject: str, source: str) -> bool:
    """Return whether a branch or a loop in a function's source depends on a variable or an attribute.

    >>> decides("self.n", "def f(self, x):\\n    if self.n % 10 == 0:\\n        x = x + 1\\n    return x")
    True
    """
    return bool(subject) and normal(subject) in deciding(source)


@functools.lru_cache(maxsize=1024)
def normal(expression: str) -> str:
    """Return an expression as `ast.unparse` writes it, or unchanged if it is none.

    >>> normal('options["step"]')
    "options['step']"
    """
    try:
        return ast.unparse(ast.parse(expression, mode="eval"))
    except SyntaxError:
        return expression


@functools.lru_cache(maxsize=64)
def deciding(source: str) -> tuple[str, ...]:
    """Return the variables, attributes and items in the conditions of a function. Each recompile asks for them."""
    conditions = (condition for node in ast.walk(parsed(source)) for condition in _conditions(node))
    return tuple(sorted({text for condition in conditions for text in values_in(condition)}))


def values_in(tree: ast.AST) -> set[str]:
    """Return the variables, attributes and items in a syntax tree.

    >>> sorted(values_in(parsed("o.n > 2 * k")))
    ['k', 'o', 'o.n']
    """
    return {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript))}


def _conditions(node: ast.AST) -> list[ast.expr]:
    """Return the expressions whose value decides which parts of a statement or an expression run, and how often."""
    match node:
        case ast.If() | ast.While() | ast.IfExp() | ast.Assert():
            return [node.test]
        case ast.For() | ast.comprehension():
            return [node.iter]
    return []


@functools.lru_cache(maxsize=64)
def keyword_parameters(source: str) -> frozenset[str]:
    """Return the names of the parameters that take all other keywords, such as `**kwargs`, in a function's source.

    >>> keyword_parameters("def f(x, **kw):\\n    return x ** n")
    frozenset({'kw'})
    """
    keywords = (node.kwarg for node in ast.walk(parsed(source)) if isinstance(node, ast.arguments))
    return frozenset(keyword.arg for keyword in keywords if keyword is not None)


@functools.lru_cache(maxsize=64)
def star_parameters(source: str) -> frozenset[str]:
    """Return the parameters of a function whose only parameters are `*args` and `**kwargs`, else none.

    >>> sorted(star_parameters("def f(*args, **kwargs):\\n    return g(*args, **kwargs)"))
    ['args', 'kwargs']
    """
    definition = next((node for node in parsed(source).body if isinstance(node, ast.FunctionDef)), None)
    if definition is None:
        return frozenset()
    given = definition.args
    stars = [star.arg for star in (given.vararg, given.kwarg) if star is not None]
    return frozenset() if given.posonlyargs or given.args or given.kwonlyargs else frozenset(stars)


def is_handed_over(subject: str, source: str) -> bool:
    """Return whether a function's source passes a variable or an attribute to a method, or slices with it.

    A function of a module counts as a method. A function that is called by its name may be the user's own and may do
    anything.

    >>> is_handed_over("k", "def f(x, k):\\n    return x.topk(k + 1)")
    True
    >>> is_handed_over("k", "def f(x, k):\\n    return torch.relu(x * k)")
    False
    """
    return bool(subject) and normal(subject) in _handed_over(source)


def is_handed_over_in(line: str, subject: str) -> bool:
    """Return whether the line that needs a value names others alone, of which it slices with one or passes one on.

    >>> is_handed_over_in("mask[i, n:] = True", "sizes[1]"), is_handed_over_in("y = x * n", "sizes[1]")
    (True, False)
    """
    return bool(line) and subject.partition(".")[0].partition("[")[0] not in line and bool(_handed_over(line))


@functools.lru_cache(maxsize=64)
def _handed_over(source: str) -> frozenset[str]:
    arguments = (argument for node in ast.walk(parsed(source)) for argument in _arguments(node))
    return frozenset(
        ast.unparse(argument)
        for argument in arguments
        if isinstance(argument, (ast.Name, ast.Attribute, ast.Subscript))
    )


def _arguments(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the values passed unchanged to a method or a slice, out of tuples, lists and arithmetic with constants."""
    match node:
        case ast.Call(func=ast.Attribute()):
            taken = [*node.args, *(keyword.value for keyword in node.keywords)]
        case ast.Slice():
            taken = [bound for bound in (node.lower, node.upper, node.step) if bound is not None]
        case _:
            return
    for value in taken:
        if isinstance(value, (ast.Tuple, ast.List)):
            taken += value.elts
        elif isinstance(value, ast.UnaryOp):
            taken.append(value.operand)
        elif isinstance(value, ast.BinOp) and any(
            isinstance(operand, ast.Constant) for operand in (value.left, value.right)
        ):
            taken += [value.left, value.right]
        yield value


def parsed(source: str) -> ast.Module:
    """Return the syntax tree of a function's source; an empty module for incomplete source."""
    try:
        return ast.parse(textwrap.dedent(source))
    except SyntaxError:
        return ast.Module(body=[], type_ignores=[])


def parsed_line(text: str) -> ast.Module:
    """Return the syntax tree of a line or of the head of a statement; an empty module for an incomplete line."""
    for candidate in (text, f"{text} pass"):
        try:
            return ast.parse(candidate)
        except SyntaxError:
            continue
    return ast.Module(body=[], type_ignores=[])
