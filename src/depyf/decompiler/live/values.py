"""Objects of the running program as expressions.

Before: the objects 3, [1, 'a'], torch.float32, Color.RED, <function helper>, <object object at 0x7f...>
After:  the texts   3, [1, 'a'], torch.float32, Color.RED, helper,            object_object

No code of the program is run: no `repr` and no attribute of an object of the program's own classes.
"""

from __future__ import annotations

import ast
import builtins
import enum
import sys
import types
from collections.abc import Callable, Mapping

from depyf.bytecode.records import dataclass
from depyf.decompiler.lift.nodes import Quoted, constant, is_literal

MANY = 32
"""A container with more items, including nested ones, is not written out."""

CONTAINERS = (tuple, list, set, dict, frozenset)
NAMED = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType)


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that a text may use.

    names: the globals of a function, and its free variables.
    placeholder: gives a name to an object without a text.
    """

    names: Mapping[str, object]
    placeholder: Callable[[object], str]


def expression(value: object, scope: Scope) -> ast.expr:
    """Return an expression for an object: a display of plain values, or a name."""
    if not _is_plain(value):
        return _named(value, scope)
    exprs: dict[int, ast.expr] = {}
    order: list[object] = []
    work = [value]
    while work:
        item = work.pop()
        order.append(item)
        work.extend(_items(item))
    for item in reversed(order):
        exprs[id(item)] = _display(item, exprs) if type(item) in CONTAINERS else _named(item, scope)
    return exprs[id(value)]


def _is_plain(value: object) -> bool:
    """Return whether a value is a container to write out: small, and without a container that occurs twice."""
    if type(value) not in CONTAINERS:
        return False
    seen: set[int] = set()
    work, count = [value], 0
    while work:
        item = work.pop()
        count += 1
        if type(item) in CONTAINERS:
            if count > MANY or (id(item) in seen and item != ()):
                return False
            seen.add(id(item))
            work.extend(_items(item))
    return count <= MANY


def _items(value: object) -> list[object]:
    if isinstance(value, dict) and type(value) is dict:
        return [*value.keys(), *value.values()]
    if isinstance(value, CONTAINERS) and type(value) in CONTAINERS:
        return list(value)
    return []


def _display(value: object, exprs: Mapping[int, ast.expr]) -> ast.expr:
    if isinstance(value, dict):
        keys: list[ast.expr | None] = [exprs[id(key)] for key in value]
        return ast.Dict(keys=keys, values=[exprs[id(item)] for item in value.values()])
    parts = [exprs[id(item)] for item in _items(value)]
    if isinstance(value, tuple):
        return ast.Tuple(elts=parts, ctx=ast.Load())
    if isinstance(value, list):
        return ast.List(elts=parts, ctx=ast.Load())
    if isinstance(value, frozenset):
        display = [ast.Set(elts=parts)] if parts else []
        return ast.Call(func=ast.Name(id="frozenset", ctx=ast.Load()), args=[*display], keywords=[])
    return ast.Set(elts=parts)


# -- names -----------------------------------------------------------------------------------


def _named(value: object, scope: Scope) -> ast.expr:
    if is_literal(value):
        return constant(value)
    path = _path(value, scope)
    if path is not None:
        return Quoted(text=path)
    if is_type_form(value) and _is_expression(repr(value)):
        return Quoted(text=repr(value))
    return ast.Name(id=scope.placeholder(value), ctx=ast.Load())


def _path(value: object, scope: Scope) -> str | None:
    """Return a dotted name for exactly this object."""
    own_name = _own_name(value)
    if own_name in scope.names and scope.names[own_name] is value:
        return own_name
    if own_name not in scope.names and getattr(builtins, own_name, None) is value:
        return own_name
    bound = next((name for name, candidate in scope.names.items() if candidate is value and name.isidentifier()), None)
    if bound is not None:
        return bound
    if issubclass(type(value), enum.Enum):
        owner = _path_of_definition(type(value), scope)
        member = str(vars(value).get("_name_", ""))
        return f"{owner}.{member}" if owner and member.isidentifier() else None
    return _path_of_definition(value, scope) or _path_in_module(value)


def _own_name(value: object) -> str:
    """Return the name of a class, function or module, or '' for other objects."""
    return str(value.__name__) if issubclass(type(value), (type, *NAMED)) else ""  # type: ignore[attr-defined]


def _path_of_definition(value: object, scope: Scope) -> str | None:
    """Return the path of the definition of a class or function, if it still leads to it."""
    kind = type(value)
    if issubclass(kind, types.ModuleType) or not issubclass(kind, (type, *NAMED)):
        return _own_name(value) or None
    home, qualname = str(getattr(value, "__module__", "")), str(getattr(value, "__qualname__", ""))
    first = qualname.partition(".")[0]
    module: object = sys.modules.get(home)
    current = module
    for name in qualname.split("."):
        current = vars(current).get(name) if isinstance(current, (types.ModuleType, type)) else None
    if current is not value:
        return None
    at_hand = scope.names.get(first) is vars(module).get(first)
    return qualname if at_hand else f"{home}.{qualname}"


def _path_in_module(value: object) -> str | None:
    """Return the name of an object in the module of its type: `torch.float32`."""
    module = sys.modules.get(type(value).__module__)
    if module is None or module is builtins:
        return None
    names = [name for name, candidate in vars(module).items() if candidate is value and name.isidentifier()]
    return f"{module.__name__}.{max(names, key=len)}" if names else None


def is_type_form(value: object) -> bool:
    """Return whether a value is a `typing` construct of classes only.

    Its `repr` is an expression, and runs no code of the program.
    """
    if not _is_typing(value):
        return False
    work = [value]
    while work:
        item = work.pop()
        if _is_typing(item):
            work.extend([*getattr(item, "__args__", ()), *getattr(item, "__metadata__", ())])
        elif type(item) in (list, tuple):
            work.extend(_items(item))
        elif not issubclass(type(item), type) and not is_literal(item):
            return False
    return True


def _is_typing(value: object) -> bool:
    return type(value).__module__ == "typing" or type(value) in (types.GenericAlias, types.UnionType)


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True
