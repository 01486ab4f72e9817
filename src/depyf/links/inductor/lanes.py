"""The active lanes of a kernel's values: those in which the conditions of the loads hold.

before: `tmp4 = tl.load(in_ptr0 + (x0), tmp3 & xmask, other=0.0)`, `tmp5 = -tmp4`, `tmp6 = tl.where(tmp3, tmp5, 0.0)`
after: in the first two lines only the lanes with a true `tmp3` count; the third line fills the others
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping

from depyf.links.inductor.statements import Statement, is_accumulator
from depyf.model.syntax import names_in, nodes_below

_VARIABLE = re.compile(r"tmp\d+$")
_LOADS = ("load", "loadu")


def conditions(kernel_statements: Iterable[Statement]) -> dict[int, tuple[str, ...]]:
    """Return for each line the variables that must be true in a lane for the line's value to count there."""
    known: dict[str, frozenset[str]] = {}
    lines: dict[int, tuple[str, ...]] = {}
    for statement in kernel_statements:
        needed = _of(statement.value, known)
        if needed:
            lines[statement.line] = tuple(sorted(needed))
        is_gathered = any(map(is_accumulator, statement.targets))
        known.update(dict.fromkeys(statement.targets, frozenset() if is_gathered else needed))
    return lines


def _of(value: ast.expr, known: Mapping[str, frozenset[str]]) -> frozenset[str]:
    variables = {variable for name in names_in(value) for variable in known.get(name, ())}
    for call in (node for node in nodes_below(value) if isinstance(node, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name in _LOADS and isinstance(call.func, ast.Attribute):
            # In Triton the condition is an argument; in C++ the load is a method of it.
            conditions_of_load = [*call.args[1:2], call.func.value]
            variables |= {
                variable for part in conditions_of_load for variable in names_in(part) if _VARIABLE.match(variable)
            }
        elif name in ("where", "blendv") and len(call.args) == 3:
            variables -= {*names_in(call.args[0 if name == "where" else 2])}
    return frozenset(variables)
