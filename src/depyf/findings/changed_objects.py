"""Whether an object that compiled code changes is the value of a guard, or holds it."""

from __future__ import annotations

import ast
import functools
import re

from depyf.model.guard_failure import GuardFailure
from depyf.model.run import Function, GuardSet
from depyf.model.spelling import spelled
from depyf.model.syntax import nodes_below, normal, parsed

ITEM_AT_END = re.compile(r"\[(?:'[^']*'|\"[^\"]*\"|\d+)\]$")
"""The last step to a value, if it is an item of a container."""
_BY_KEY = re.compile(r"(?P<of>[\w.]+)\[list\(dict\.keys\((?P=of)\)\)\[(?P<place>\d+)\]\]")
_KEYS = "keys_are("


def is_of(source: str, failure: GuardFailure, function: Function) -> bool:
    """Return whether an object that a compiled function changes is the value of a guard, or holds it.

    Args:
        source: torch's expression for the object.
        failure: the guard that failed.
        function: the function, whose guards name the keys of dicts.
    """
    changed, subject = _by_name(spelled(source), function), failure.subject
    holders = (subject, subject.rpartition(".")[0], ITEM_AT_END.sub("", subject))
    return normal(changed) in map(normal, holders)


def _by_name(value: str, function: Function) -> str:
    """Return a value with its items by key, as guards name them: torch finds the items of a dict by position.

    before: `table[list(dict.keys(table))[0]]`, and a guard `keys_are(G["table"], "a", "b")`
    after: `table["a"]`; without such a guard `list(dict.values(table))[0]`
    """

    def by_name(match: re.Match[str]) -> str:
        keys = _keys(match["of"], function)
        place = int(match["place"])
        if place < len(keys):
            return f"{match['of']}[{keys[place]}]"
        return f"list(dict.values({match['of']}))[{place}]"

    return _BY_KEY.sub(by_name, value)


def _keys(name: str, function: Function) -> list[str]:
    """Return the keys of a dict, as a guard on all of them names them, or []."""
    for compiled in function.compiles:
        for guard in compiled.guards.guards if isinstance(compiled.guards, GuardSet) else ():
            if guard.clause.startswith(_KEYS) and spelled(guard.source) == name:
                match ast.parse(guard.clause, mode="eval").body:
                    case ast.Call(args=[_, *keys]):
                        return [ast.unparse(key) for key in keys]
    return []


@functools.lru_cache(maxsize=256)
def is_changed_in(source: str, subject: str) -> bool:
    """Return whether a function's source calls a method that changes a container, or assigns an item or the value.

    A part of the function after a graph break may have no operation for a graph. It runs eager, and torch reports no
    effects of it.

    >>> is_changed_in("def f(self, x):\\n    self.seen.append(x)", "self.seen")
    True

    Args:
        source: the source of the function.
        subject: the value, as the program writes it.
    """
    name = normal(subject)
    for node in nodes_below(parsed(source)):
        match node:
            case ast.Call(func=ast.Attribute(value=holder, attr=method)) if method in _CHANGING:
                if ast.unparse(holder) == name:
                    return True
            case ast.Subscript(value=holder, ctx=ast.Store() | ast.Del()) if ast.unparse(holder) == name:
                return True
            case ast.Attribute(ctx=ast.Store()) if ast.unparse(node) == name:
                return True
    return False


_CHANGING = frozenset(
    ("append", "extend", "insert", "pop", "remove", "clear", "add", "discard", "update", "setdefault")
)
"""The methods by which containers change."""
