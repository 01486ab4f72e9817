"""Find the statements of a transformed function that change the user's objects, and the user's lines that ask for it.

before: torch says that the user's line 85 changes `G['TABLE']`
    TABLE_2 = TABLE
    clear = TABLE_2.clear
    clear()
after: the last statement is linked to line 85
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from depyf.model.run import SideEffect
from depyf.model.user_line import UserLine

_SCOPES = ("L", "G")
"""torch's names for the local variables and the globals."""


def effect_lines(statements: Sequence[ast.stmt], effects: Sequence[SideEffect]) -> dict[int, tuple[UserLine, ...]]:
    """Return the user's lines for each group of statements, by the index of its first statement.

    A group consists of consecutive statements that change one object. `statements` are all statements of a function.
    """
    lines = {_path_of_source(effect.source): effect.lines for effect in effects if effect.lines}
    lines.pop(None, None)
    # Assigning to a local variable changes no object.
    variables = {_path_of_source(effect.source) for effect in effects if not effect.source.startswith("L[")}
    lines_by_index: dict[int, tuple[UserLine, ...]] = {}
    known: dict[str, str] = {}
    last: str | None = None
    for index, statement in enumerate(statements) if lines else ():
        paths = [path for path in _variables_set(statement) if path in variables] + _changed(statement, known)
        changed = next((path for path in paths if path in lines), None)
        if changed is not None and changed != last:
            lines_by_index[index] = lines[changed]
        last = changed
        _note_name(statement, known)
    return lines_by_index


def _path_of_source(source: str) -> str | None:
    try:
        return _path(ast.parse(source, mode="eval").body, {})
    except SyntaxError:
        return None


def _path(expression: ast.expr, known: Mapping[str, str]) -> str | None:
    """Return the path to an object in one spelling: `L['self'].items` and `self.items` are the same."""
    suffixes: list[str] = []
    while True:
        match expression:
            case ast.Subscript(value=ast.Name(id=scope), slice=ast.Constant(value=str(name))) if scope in _SCOPES:
                return "".join([name, *reversed(suffixes)])
            case ast.Name(id=name):
                return "".join([known.get(name, name), *reversed(suffixes)])
            case ast.Attribute(value=inner, attr=name):
                suffixes.append(f".{name}")
            case ast.Subscript(value=inner, slice=ast.Constant(value=key)):
                suffixes.append(f"[{key!r}]")
            case _:
                return None
        expression = inner


def _variables_set(statement: ast.stmt) -> list[str]:
    targets = statement.targets if isinstance(statement, (ast.Assign, ast.Delete)) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _changed(statement: ast.stmt, known: Mapping[str, str]) -> list[str | None]:
    """Return how the objects are reached that a statement may change."""
    match statement:
        case ast.Assign(targets=targets) | ast.Delete(targets=targets):
            held = [target.value for target in targets if isinstance(target, (ast.Attribute, ast.Subscript))]
            return [_path(owner, known) for owner in held]
        case ast.Expr(value=ast.Call(func=function, args=arguments)):
            called = _path(function, known)
            method = called.rpartition(".")[0] if called is not None else None
            # A replacement for `setattr` has the object as its first argument.
            return [method, *(_path(argument, known) for argument in arguments[:1])]
    return []


def _note_name(statement: ast.stmt, known: dict[str, str]) -> None:
    """Record the path of a variable, if the variable is only another name for a reachable object."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            path = _path(value, known)
            if path is not None:
                known[name] = path
            else:
                known.pop(name, None)
