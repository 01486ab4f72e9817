"""The last pass: names for temporaries and objects, and plain expressions for what no other pass has taken."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import sys
import types
import unicodedata
from dataclasses import dataclass, field

from depyf.bytecode.code import Code
from depyf.bytecode.known_async import AITER, ANEXT, AWAITS
from depyf.bytecode.operations import OF_VARIABLES
from depyf.decompiler.graph.tac import Graph
from depyf.decompiler.lift.imports import Import
from depyf.decompiler.lift.nodes import (
    AsyncIter,
    AsyncNext,
    Cell,
    Common,
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
from depyf.decompiler.passes.body import Body
from depyf.decompiler.passes.definitions import AsyncDefinition, Definition
from depyf.decompiler.passes.identifiers import write_identifiers
from depyf.decompiler.passes.parameters import parameters
from depyf.decompiler.passes.telling import hint_names
from depyf.decompiler.passes.walk import nodes, of_kinds, rewrite_expressions
from depyf.decompiler.steps import step


@dataclass(slots=True)
class Names:
    """Names made up for one decompilation.

    objects: placeholder names and the constants without a literal that they stand for.
    variables: identifiers and the names, which are none, that they stand for.
    functions: names of functions in the text, and the names that these functions have.
    hints: what temporaries would best be called.
    are_writable: a source can say all names of the code.
    """

    taken: set[str]
    objects: dict[str, object] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    hints: dict[int, str] = field(default_factory=dict)
    are_writable: bool = True
    by_identity: dict[int, str] = field(default_factory=dict)
    by_name: dict[str, str] = field(default_factory=dict)

    def fresh(self, wish: str) -> str:
        """Return an identifier like `wish` that is not taken."""
        base = re.sub(r"\W+", "_", unicodedata.normalize("NFKC", wish)).strip("_") or "name"
        if base[0].isdigit():
            base = "_" + base
        name, number = base, 1
        while name in self.taken or keyword.iskeyword(name):
            number += 1
            name = f"{base}_{number}"
        self.taken.add(name)
        return name

    def free(self, graph: Graph) -> None:
        """Take over a graph's hints, and free the names of the variables that no operation names any more."""
        used = {inst.arg for block in graph.live() for inst in block.insts if inst.op in OF_VARIABLES}
        self.hints.update(graph.hints)
        self.taken -= set(graph.code.varnames) - used - set(graph.code.parameters)

    def of_object(self, value: object) -> str:
        """Return the placeholder of an object; one object has one name."""
        if isinstance(value, Code) and value.origin is not None:
            value = value.origin  # The program knows the code object, not depyf's view of it.
        if id(value) not in self.by_identity:
            name = self.by_identity[id(value)] = self.fresh(f"object_{_label(value)}")
            self.objects[name] = value
        return self.by_identity[id(value)]

    def of_variable(self, name: str) -> str:
        """Return the identifier of a variable whose name is none."""
        if name not in self.by_name:
            self.by_name[name] = self.fresh(name)
            self.variables[self.by_name[name]] = name
        return self.by_name[name]


def _label(value: object) -> str:
    if isinstance(value, types.CodeType):
        return value.co_name
    return getattr(value, "__qualname__", None) or getattr(value, "__name__", None) or type(value).__name__


KINDS = frozenset(
    {Temp, Object, GetIter, AsyncIter, AsyncNext, GetAwaitable, WithExcept, Common, Cell, Function, ast.Slice}
)
VARIABLES = frozenset({ast.Name, Var})


def finish_leftovers(body: Body, names: Names) -> None:
    """Replace every node that is no Python in place."""
    temps: dict[int, str] = {}
    all_writable = all(map(is_writable, names.taken))
    kinds = KINDS if all_writable else KINDS | VARIABLES
    present = of_kinds(body.stmts, SOUGHT if all_writable else SOUGHT | VARIABLES)
    between_brackets = _indices([node for node in present if isinstance(node, ast.Subscript)])
    names.taken |= _imported([node for node in present if isinstance(node, Import)])

    def named(temp: int, wish: str) -> str:
        if temp not in temps:
            temps[temp] = names.fresh(names.hints.get(temp, wish))
            step("v{} is called {}", temp, temps[temp])
        return temps[temp]

    if any(type(node) is Temp for node in present):
        hint_names(body.stmts, names.hints)
    is_named = any(type(node) in NAMED for node in present)
    for node in [node for node in nodes(body.stmts) if type(node) in NAMED] if is_named else ():
        if isinstance(node, (Definition, AsyncDefinition)) and isinstance(node.target, Temp):
            function = node.name
            node.name = named(node.target.temp, function)
            if node.name != function:
                names.functions[node.name] = function
        elif isinstance(node, Import) and node.target is not None:
            node.names[0].asname = named(node.target.temp, node.names[0].name)
        elif isinstance(node, Temp):
            named(node.temp, f"tmp_{len(temps) + 1}")

    def rewrite(expr: ast.expr) -> ast.expr:
        if isinstance(expr, Temp):
            return ast.Name(id=named(expr.temp, f"tmp_{len(temps) + 1}"), ctx=ast.Load())
        if isinstance(expr, Object):
            return ast.Name(id=names.of_object(expr.value), ctx=ast.Load())
        if isinstance(expr, GetIter):
            return ast.Call(func=_builtin(names, "iter"), args=[expr.value], keywords=[])
        if isinstance(expr, (AsyncIter, AsyncNext)):
            return _called(names, AITER if isinstance(expr, AsyncIter) else ANEXT, expr.value)
        if isinstance(expr, GetAwaitable) and expr.where in AWAITS:
            return _called(names, AWAITS[expr.where], expr.value)
        if isinstance(expr, ast.Slice) and id(expr) not in between_brackets:
            bounds = [literal(None) if bound is None else bound for bound in (expr.lower, expr.upper, expr.step)]
            return ast.Call(func=_builtin(names, "slice"), args=bounds, keywords=[])
        if isinstance(expr, WithExcept):
            caught = ast.Call(func=ast.Name(id=names.of_object(sys.exc_info), ctx=ast.Load()), args=[], keywords=[])
            return ast.Call(func=expr.exit, args=[ast.Starred(value=caught, ctx=ast.Load())], keywords=[])
        if isinstance(expr, Common):
            return _builtin(names, expr.id)
        if isinstance(expr, Cell):
            return _cell(expr.name)
        if isinstance(expr, Function):
            return _made_in_place(expr, names)
        if isinstance(expr, ast.Name) and not is_writable(expr.id):
            expr.id = names.of_variable(expr.id)
        return expr

    if any(type(node) in kinds for node in present):
        rewrite_expressions(body.stmts, rewrite, kinds)
    if not names.are_writable:
        write_identifiers(body.stmts, names.of_variable)


NAMED = (Temp, Definition, AsyncDefinition, Import)
"""What is named here, in the order of the source."""
SOUGHT: frozenset[type] = frozenset({*NAMED, ast.Subscript, *KINDS})


def _imported(modules: list[Import]) -> set[str]:
    """Return the names that `import a.b` binds."""
    return {alias.name.partition(".")[0] for node in modules for alias in node.names if alias.asname is None}


def _indices(subscripts: list[ast.Subscript]) -> set[int]:
    """Return the identities of the slices that stand between the brackets of a subscript, alone or in a tuple."""
    found: set[int] = set()
    for node in subscripts:
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        found.update(id(part) for part in parts)
    return found


def _called(names: Names, function: object, value: ast.expr) -> ast.expr:
    """Return the call of a function that stands as a constant."""
    return ast.Call(func=ast.Name(id=names.of_object(function), ctx=ast.Load()), args=[value], keywords=[])


def _cell(variable: str) -> ast.expr:
    """Return the cell of a variable: that of a function which does nothing but name it."""
    nothing = ast.arguments(
        posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[]
    )
    namer = ast.Lambda(args=nothing, body=ast.Name(id=variable, ctx=ast.Load()))
    closure = ast.Attribute(value=namer, attr="__closure__", ctx=ast.Load())
    return ast.Subscript(value=closure, slice=ast.Constant(value=0), ctx=ast.Load())


def _made_in_place(function: Function, names: Names) -> ast.expr:
    """Return a function that is used where it is made: one that names its code and its variables.

    Before: <function of code, over y>(a)
    After:  (lambda x: object_code(y))(a)

    `verify/placeholders.py` puts the code object in the place of the lambda's.
    """
    arguments, _ = parameters(function.code, function)
    variables: list[ast.expr] = [ast.Name(id=name, ctx=ast.Load()) for name in function.code.freevars]
    code = ast.Name(id=names.of_object(function.code), ctx=ast.Load())
    return ast.Lambda(args=arguments, body=ast.Call(func=code, args=variables, keywords=[]))


def _builtin(names: Names, name: str) -> ast.expr:
    """Return the placeholder of a builtin: its name may be bound to something else."""
    return ast.Name(id=names.of_object(getattr(builtins, name)), ctx=ast.Load())
