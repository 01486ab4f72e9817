"""Names for temporaries that describe their contents.

Before: tmp_1 = layer._parameters['weight']      After: weight = layer._parameters['weight']
Before: tmp_1 = [a, b]; cache.layers = tmp_1     After: layers = [a, b]; cache.layers = layers
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterator

from depyf.decompiler.lift.nodes import Temp, literal_value
from depyf.decompiler.passes.walk import statements

ITEMS: dict[str, tuple[str, ...]] = {"items": ("key", "value"), "keys": ("key",), "values": ("value",)}
"""The items that the methods of mappings yield."""
LONGEST = 24
"""The most characters in the name of an object of a class."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def hint_names(stmts: list[ast.stmt], hints: dict[int, str]) -> None:
    """Add a hint for each temporary without one, from the first value assigned to it, else from a use."""
    ordered = statements(stmts)
    for stmt in ordered:
        match stmt:
            case ast.Assign(targets=[Temp(temp=temp)], value=value):
                _hint(temp, _telling(value, hints), hints)
            case ast.For(target=target, iter=iterable):
                for temp, name in zip(_temps(target), _given(iterable), strict=False):
                    _hint(temp, name, hints)
    for stmt in ordered:
        for temp, use in _uses(stmt):
            _hint(temp, use, hints)


def _hint(temp: int, name: str | None, hints: dict[int, str]) -> None:
    if name is not None and temp not in hints and name.isidentifier() and not keyword.iskeyword(name):
        hints[temp] = name


def _telling(value: ast.expr, hints: dict[int, str]) -> str | None:
    """Return a suggested name for a value, or None."""
    if isinstance(value, ast.Name):
        return value.id.strip("_")
    if isinstance(value, ast.Attribute):
        return value.attr.strip("_")
    if isinstance(value, ast.Subscript):
        return _item_name(value, hints)
    return _result_name(value, hints) if isinstance(value, ast.Call) else None


def _item_name(value: ast.Subscript, hints: dict[int, str]) -> str | None:
    key = literal_value(value.slice)
    if isinstance(key, str):
        return key.strip("_")
    owner = _plain_name(value.value, hints)
    return f"{owner}_{key}" if isinstance(key, int) and key >= 0 and owner is not None else None


def _result_name(value: ast.Call, hints: dict[int, str]) -> str | None:
    callee = value.func.attr if isinstance(value.func, ast.Attribute) else _plain_name(value.func, hints)
    if callee == "__new__" and value.args:
        class_name = _plain_name(value.args[0], hints)
        return _instance(class_name) if class_name is not None else None
    return f"{callee.strip('_')}_result" if callee is not None and not callee.startswith("__") else None


def _instance(name: str) -> str:
    """Return the name for an object of a class: the first words of the class name, up to a length."""
    words = _HUMP.sub("_", name).lower().split("_")
    while len("_".join(words)) > LONGEST and len(words) > 1:
        words.pop()
    return f"new_{name}" if words == name.split("_") else "_".join(words)


def _plain_name(expr: ast.expr, hints: dict[int, str]) -> str | None:
    if isinstance(expr, ast.Name):
        return expr.id
    if isinstance(expr, ast.Attribute):
        return expr.attr.strip("_") or None
    return hints.get(expr.temp) if isinstance(expr, Temp) else None


def _temps(target: ast.expr) -> list[int]:
    """Return the temporaries of a loop's target in order; empty if it has other targets too."""
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    temps = [part.temp for part in parts if isinstance(part, Temp)]
    return temps if len(temps) == len(parts) else []


def _given(iterable: ast.expr) -> tuple[str, ...]:
    """Return the names for the values of a loop."""
    if isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Attribute) and not iterable.args:
        return ITEMS.get(iterable.func.attr, ())
    return ()


def _uses(stmt: ast.stmt) -> Iterator[tuple[int, str]]:
    """Yield the temporaries that a statement stores under a name, each with that name."""
    match stmt:
        case ast.Assign(targets=[ast.Attribute(attr=name)], value=Temp(temp=temp)):
            yield temp, name.strip("_")
        case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value=str(name)))], value=Temp(temp=temp)):
            yield temp, name
        case ast.Assign(value=ast.Call() as call) | ast.Expr(value=ast.Call() as call):
            yield from _named_arguments(call)


def _named_arguments(call: ast.Call) -> Iterator[tuple[int, str]]:
    """Yield the arguments of a call by keyword, in a dictionary, or after an object and a name, as for `setattr`."""
    match call.args:
        case [_, ast.Constant(value=str(name)), Temp(temp=temp)]:
            yield temp, name
        case [ast.Dict(keys=keys, values=values)]:
            for key, value in zip(keys, values, strict=True):
                name_of_key = literal_value(key)
                if isinstance(value, Temp) and isinstance(name_of_key, str):
                    yield value.temp, name_of_key
    for argument in call.keywords:
        if isinstance(argument.value, Temp):
            yield argument.value.temp, argument.arg or "kwargs"
