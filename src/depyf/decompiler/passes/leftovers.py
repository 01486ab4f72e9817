"""The last pass: name temporaries and objects, and write plain expressions for the remaining nodes."""

from __future__ import annotations

import ast
import builtins
import sys

from depyf.bytecode.known_async import AITER, ANEXT, AWAITS
from depyf.decompiler.lift.imports import Import
from depyf.decompiler.lift.nodes import (
    AsyncDefinition,
    AsyncIter,
    AsyncNext,
    Cell,
    Common,
    Definition,
    Function,
    GetAwaitable,
    GetIter,
    Object,
    Temp,
    Var,
    WithExcept,
    literal,
)
from depyf.decompiler.lift.writable import is_writable
from depyf.decompiler.passes.body import Bodies, Body
from depyf.decompiler.passes.identifiers import write_identifiers
from depyf.decompiler.passes.names import Names
from depyf.decompiler.passes.parameters import parameters
from depyf.decompiler.passes.registry import Stage, registers
from depyf.decompiler.passes.sought import KINDS, NAMED
from depyf.decompiler.passes.telling import hint_names
from depyf.decompiler.passes.walk import nodes, rewrite_expressions
from depyf.decompiler.steps import step

VARIABLES = frozenset({ast.Name, Var})


@registers(
    "leftovers",
    Stage.WHOLE,
    "name temporaries and objects without a literal",
    takes=("body", "names", "bodies"),
    after={"declarations": "invented names must not be declared"},
)
def finish_leftovers(body: Body, names: Names, bodies: Bodies) -> None:
    """Replace every node that is not Python in place.

    Args:
        body: the statements of the outermost code object.
        names: the names to invent from, and the placeholders so far.
        bodies: the bodies of nested code objects, by identity.
    """
    kinds = KINDS if names.says_variables else KINDS | VARIABLES
    present = [node for owner in (*bodies.values(), body) for node in owner.special]
    names.reserved.update(_imported([node for node in present if isinstance(node, Import)]))
    if any(type(node) is Temp for node in present):
        hint_names(body.stmts, names.hints)
    leftovers = Leftovers(names, _indices([node for node in present if isinstance(node, ast.Subscript)]))
    if any(map(_is_unnamed, present)):
        for node in nodes(body.stmts):
            if type(node) in NAMED:
                leftovers.name(node)
    left = [node for node in present if type(node) in KINDS and id(node) not in leftovers.between_brackets]
    if left or not names.says_variables:
        rewrite_expressions(body.stmts, leftovers.rewrite, kinds)
    if not names.are_writable:
        write_identifiers(body.stmts, names.of_variable)


class Leftovers:
    """Names of temporaries, and plain expressions for nodes that are not Python.

    between_brackets: identities of the slices between the brackets of a subscript.
    """

    def __init__(self, names: Names, between_brackets: set[int]) -> None:
        self.names = names
        self.between_brackets = between_brackets
        self.temps: dict[int, str] = {}

    def name(self, node: ast.AST) -> None:
        """Name the temporary that a node is, or sets."""
        if isinstance(node, (Definition, AsyncDefinition)) and isinstance(node.target, Temp):
            function = node.name
            node.name = self._named(node.target.temp, function)
            if node.name != function:
                self.names.functions[node.name] = function
        elif isinstance(node, Import) and node.target is not None:
            node.names[0].asname = self._named(node.target.temp, node.names[0].name)
        elif isinstance(node, Temp):
            self._named(node.temp, f"tmp_{len(self.temps) + 1}")

    def rewrite(self, expr: ast.expr) -> ast.expr:
        """Return the plain expression for one of `KINDS` or a variable."""
        match expr:
            case Temp(temp=temp):
                return ast.Name(id=self._named(temp, f"tmp_{len(self.temps) + 1}"), ctx=ast.Load())
            case Object(value=value):
                return ast.Name(id=self.names.of_object(value), ctx=ast.Load())
            case Common(id=name):
                return _builtin(self.names, name)
            case Cell(name=name):
                return _cell(name)
            case Function():
                return _made_in_place(expr, self.names)
            case ast.Slice() if id(expr) not in self.between_brackets:
                bounds = [literal(None) if bound is None else bound for bound in (expr.lower, expr.upper, expr.step)]
                return ast.Call(func=_builtin(self.names, "slice"), args=bounds, keywords=[])
            case ast.Name(id=name) if not is_writable(name):
                expr.id = self.names.of_variable(name)
                return expr
        return self._call(expr)

    def _call(self, expr: ast.expr) -> ast.expr:
        """Return the call for an operation without syntax; other expressions unchanged."""
        match expr:
            case GetIter(value=value):
                return ast.Call(func=_builtin(self.names, "iter"), args=[value], keywords=[])
            case AsyncIter(value=value):
                return _called(self.names, AITER, value)
            case AsyncNext(value=value):
                return _called(self.names, ANEXT, value)
            case GetAwaitable(value=value, where=where) if where in AWAITS:
                return _called(self.names, AWAITS[where], value)
            case WithExcept(exit=exit_):
                info = ast.Name(id=self.names.of_object(sys.exc_info), ctx=ast.Load())
                caught = ast.Starred(value=ast.Call(func=info, args=[], keywords=[]), ctx=ast.Load())
                return ast.Call(func=exit_, args=[caught], keywords=[])
        return expr

    def _named(self, temp: int, wish: str) -> str:
        if temp not in self.temps:
            self.temps[temp] = self.names.fresh(self.names.hints.get(temp, wish))
            step("v{} is called {}", temp, self.temps[temp])
        return self.temps[temp]


def _is_unnamed(node: ast.AST) -> bool:
    """Return whether a node is a temporary or binds one."""
    if isinstance(node, (Definition, AsyncDefinition)):
        return isinstance(node.target, Temp)
    return isinstance(node, Temp) or (isinstance(node, Import) and node.target is not None)


def _imported(modules: list[Import]) -> set[str]:
    """Return the names that `import a.b` binds."""
    return {alias.name.partition(".")[0] for node in modules for alias in node.names if alias.asname is None}


def _indices(subscripts: list[ast.Subscript]) -> set[int]:
    """Return the identities of the slices between the brackets of a subscript, directly or in a tuple."""
    slices: set[int] = set()
    for node in subscripts:
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        slices.update(id(part) for part in parts)
    return slices


def _called(names: Names, function: object, value: ast.expr) -> ast.expr:
    """Return the call of a function that is a constant."""
    return ast.Call(func=ast.Name(id=names.of_object(function), ctx=ast.Load()), args=[value], keywords=[])


def _cell(variable: str) -> ast.expr:
    """Return the cell of a variable: that of a function which only names it."""
    nothing = ast.arguments(
        posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[]
    )
    namer = ast.Lambda(args=nothing, body=ast.Name(id=variable, ctx=ast.Load()))
    closure = ast.Attribute(value=namer, attr="__closure__", ctx=ast.Load())
    return ast.Subscript(value=closure, slice=ast.Constant(value=0), ctx=ast.Load())


def _made_in_place(function: Function, names: Names) -> ast.expr:
    """Return a function that is used in place, as a lambda that names its code and its variables.

    Before: <function of code, over y>(a)
    After:  (lambda x: object_code(y))(a)

    `verify/placeholders.py` replaces the lambda's code by the code object.
    """
    arguments, _ = parameters(function.code, function)
    variables: list[ast.expr] = [ast.Name(id=name, ctx=ast.Load()) for name in function.code.freevars]
    code = ast.Name(id=names.of_object(function.code), ctx=ast.Load())
    return ast.Lambda(args=arguments, body=ast.Call(func=code, args=variables, keywords=[]))


def _builtin(names: Names, name: str) -> ast.expr:
    """Return the placeholder of a builtin, because its name may be rebound."""
    return ast.Name(id=names.of_object(getattr(builtins, name)), ctx=ast.Load())
