"""Names for temporaries that tell what is in them.

Before: tmp_1 = layer._parameters['weight']      After: weight = layer._parameters['weight']
"""

from __future__ import annotations

import ast
import keyword

from depyf.lift.nodes import Temp, literal_value
from depyf.passes.walk import statements


def hint_names(stmts: list[ast.stmt], hints: dict[int, str]) -> None:
    """Add a hint for each temporary that has none, taken from the value that it is first given."""
    for node in statements(stmts):
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target = node.targets[0]
        if isinstance(target, Temp) and target.temp not in hints:
            name = _telling(node.value, hints)
            if name is not None and name.isidentifier() and not keyword.iskeyword(name):
                hints[target.temp] = name


def _telling(value: ast.expr, hints: dict[int, str]) -> str | None:
    """Return what a value would be called, or None where nothing suggests itself."""
    if isinstance(value, ast.Attribute):
        return value.attr.strip("_") or None
    if isinstance(value, ast.Subscript):
        key = literal_value(value.slice)
        if isinstance(key, str):
            return key.strip("_")
        owner = _plain_name(value.value, hints)
        return f"{owner}_{key}" if isinstance(key, int) and key >= 0 and owner is not None else None
    if isinstance(value, ast.Call):
        callee = value.func.attr if isinstance(value.func, ast.Attribute) else _plain_name(value.func, hints)
        return f"{callee.strip('_')}_result" if callee is not None and not callee.startswith("__") else None
    return None


def _plain_name(expr: ast.expr, hints: dict[int, str]) -> str | None:
    if isinstance(expr, ast.Name):
        return expr.id
    return hints.get(expr.temp) if isinstance(expr, Temp) else None
