"""The parts of a live function that are not in its code: defaults, annotations, closure.

Before: def f(x, y, *, z): ...
After:  # closure: factor = 3
        def f(x: int, y=1, *, z=None) -> str: ...
"""

from __future__ import annotations

import ast
import importlib
import types
from collections.abc import Mapping
from dataclasses import field

from depyf.bytecode.code import Code
from depyf.bytecode.records import dataclass
from depyf.decompiler.emit.expressions import ExpressionWriter
from depyf.decompiler.emit.grammar import Grammar
from depyf.decompiler.lift.nodes import Function, Quoted, TypeParam, literal
from depyf.decompiler.live.type_params import type_params
from depyf.decompiler.live.values import Scope, expression


@dataclass(slots=True)
class Live:
    """The parts of a live function that are not in its code.

    maker: how it is made: its defaults and annotations as expressions.
    closure: its free variables, and their values as expressions; None for an unbound one.
    objects: names in those expressions that stand for objects without a text, and these objects.
    """

    maker: Function
    closure: dict[str, ast.expr | None]
    objects: dict[str, object] = field(default_factory=dict)


def describe(function: types.FunctionType, code: Code) -> Live:
    """Return the parts of a function that are not in its code, as expressions. No code of the program is run."""
    cells = dict(zip(code.freevars, function.__closure__ or ()))
    values = {name: cell.cell_contents for name, cell in cells.items() if _is_bound(cell)}
    objects: dict[str, object] = {}
    scope = Scope({**function.__globals__, **values}, lambda value: _placeholder(value, objects))
    outside = Scope(function.__globals__, scope.placeholder)
    defaults = (function.__defaults__ or ())[-code.argcount :] if code.argcount else ()
    keyword_only = code.varnames[code.argcount : code.argcount + code.kwonly_count]
    keywords = {name: value for name, value in (function.__kwdefaults__ or {}).items() if name in keyword_only}
    maker = Function(
        code=code,
        defaults=ast.Tuple(elts=[expression(value, scope) for value in defaults], ctx=ast.Load()),
        kwdefaults=_display({name: expression(value, scope) for name, value in keywords.items()}),
        annotations=_display(_annotations(function, code, scope)),
        closure=None,
        annotate=None,
        type_params=type_params(function),
    )
    params = {param.name for param in maker.type_params if isinstance(param, TypeParam)}
    free = [name for name in code.freevars if name not in params]
    closure = {name: expression(values[name], outside) if name in values else None for name in free}
    return Live(maker, closure, objects)


def _is_bound(cell: types.CellType) -> bool:
    return cell != types.CellType()


def _placeholder(value: object, objects: dict[str, object]) -> str:
    base = f"object_{type(value).__name__}"
    name, number = base, 1
    while name in objects and objects[name] is not value:
        number += 1
        name = f"{base}_{number}"
    objects[name] = value
    return name


def _display(values: Mapping[str, ast.expr]) -> ast.expr:
    return ast.Dict(keys=[literal(name) for name in values], values=list(values.values()))


def _annotations(function: types.FunctionType, code: Code, scope: Scope) -> dict[str, ast.expr]:
    """Return the annotations of parameters. Lazy annotations are returned as their text, without evaluating them."""
    wanted = {*code.parameters, "return"}
    if getattr(function, "__annotate__", None) is not None:
        library = importlib.import_module("annotationlib")
        texts: Mapping[str, str] = library.get_annotations(function, format=library.Format.STRING)
        return {name: Quoted(text=text) for name, text in texts.items() if name in wanted}
    return {name: expression(value, scope) for name, value in function.__annotations__.items() if name in wanted}


def comments(live: Live, grammar: Grammar) -> list[str]:
    """Return comments for the parts without a place in the definition: the closure, and the placeholders' objects."""
    writer = ExpressionWriter(grammar)
    lines = []
    for name, value in live.closure.items():
        lines.append(f"# closure: {name} " + (f"= {writer.write(value)}" if value is not None else "is unbound"))
    for name, held in live.objects.items():
        kind = type(held)
        lines.append(f"# {name}: an object of {kind.__module__}.{kind.__qualname__}")
    return lines
