"""Release a function's variables when they are read for the last time, as a stack releases its values.

before: y = f(x); return g(y)                      `y` lives while `g` runs
after:  y = f(x); return g((y, (y := None))[0])    `g` has the only reference

So a readable text can run without holding values that the original passes on. The text does not change, only the tree
that is compiled.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Sequence

from depyf.bytecode.normalise import normalise
from depyf.bytecode.reader import read
from depyf.verify.flow import Flow

Compile = Callable[[], Sequence[types.CodeType]]
SCOPES = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)
"""Nodes with a scope of their own."""


def let_go(tree: ast.Module, function: str, compiled: Compile) -> None:
    """Change the tree of a module so that one function releases its variables. The caller holds the parameters.

    compiled: compiles the functions of that name in the tree.
    """
    definition = next((node for node in reversed([*ast.walk(tree)]) if is_function(node, function)), None)
    if isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
        reads = own_reads(definition)
        last = last_reads([read for _, read in reads], compiled)
        for parent, name in reads:
            if id(name) in last:
                replace(parent, name, moved(name))


def is_function(node: ast.AST, name: str) -> bool:
    """Return whether a node defines a function of this name."""
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name


def own_reads(definition: ast.FunctionDef | ast.AsyncFunctionDef) -> list[tuple[ast.AST, ast.Name]]:
    """Return the reads of variables, not of parameters, each with the node that contains it; without nested scopes.

    A directly returned variable dies with its frame.
    """
    arguments = definition.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    parameters = {arg.arg for arg in every if arg is not None}
    reads = []
    pending: list[ast.AST] = [*definition.body]
    while pending:
        node = pending.pop()
        if isinstance(node, SCOPES):
            continue
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load) and child.id not in parameters:
                if not isinstance(node, ast.Return):
                    reads.append((node, child))
            pending.append(child)
    return reads


def last_reads(names: list[ast.Name], compiled: Compile) -> set[int]:
    """Return the identities of the names after which no path reads their variable, in all copies by the compiler."""
    lines = [(name.lineno, name.end_lineno) for name in names]
    try:
        # During this compile each name has its own line, which identifies its instructions.
        for number, name in enumerate(names):
            name.lineno = name.end_lineno = FIRST_LINE + number
        codes = compiled()
    finally:
        for name, (first, last) in zip(names, lines, strict=True):
            name.lineno, name.end_lineno = first, last
    if not codes:
        return set()
    flow = Flow(normalise(read(codes[-1])))
    is_last_read: dict[int, bool] = {}
    for index, item in enumerate(flow.instructions):
        number = (item.line or 0) - FIRST_LINE
        if item.op == "LOAD_FAST" and 0 <= number < len(names):
            is_read = flow.live(index + 1) & flow.bit[str(item.arg)]
            is_last_read[number] = is_last_read.get(number, True) and not is_read
    return {id(names[number]) for number, is_last in is_last_read.items() if is_last}


FIRST_LINE = 1_000_000


def moved(name: ast.Name) -> ast.expr:
    """Return an expression that returns a variable's value and sets the variable to None."""
    emptied = ast.NamedExpr(target=ast.Name(id=name.id, ctx=ast.Store()), value=ast.Constant(value=None))
    both = ast.Tuple(elts=[name, emptied], ctx=ast.Load())
    subscript = ast.Subscript(value=both, slice=ast.Constant(value=0), ctx=ast.Load())
    for node in ast.walk(subscript):
        if node is not name and isinstance(node, ast.expr):
            ast.copy_location(node, name)
    return subscript


def replace(parent: ast.AST, old: ast.expr, new: ast.expr) -> None:
    """Replace an expression that a node contains.

    Args:
        parent: the node that contains it.
        old: the expression.
        new: the expression in its place.
    """
    for field, value in ast.iter_fields(parent):
        if value is old:
            setattr(parent, field, new)
        elif isinstance(value, list):
            value[:] = [new if item is old else item for item in value]
