"""Attributes that `__init__` alone sets, so that another value is that of another object.

The twelve layers of a model share the code of one `forward`, and each reads its own `self.layer_idx`.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence
from dataclasses import replace

from depyf.findings.catalogue.kind import Change, Kind, Place
from depyf.findings.catalogue.recompiles import OF_EACH_OBJECT
from depyf.model.guard_failure import GuardFailure
from depyf.model.run import Compile, Function
from depyf.model.syntax import nodes_below, parsed
from depyf.model.user_source import file_text, is_foreign

_CHANGES = (Change.INT, Change.FLOAT, Change.STRING, Change.BOOL, Change.CONSTANT)
_MAKERS = ("__init__", "__post_init__", "__new__")


def fixed(kind: Kind, function: Function, failures: Sequence[GuardFailure], compiles: Sequence[Compile]) -> Kind | None:
    """Return the kind of an attribute that each object has for itself, or None for any other value.

    Args:
        kind: the kind of the value by itself.
        function: the function that was compiled again.
        failures: the guard failures for the value.
        compiles: the recompiles, one for each failure.
    """
    owner, _, name = failures[0].subject.partition(".")
    is_value = kind.place in (Place.MODULE, Place.OBJECT) and kind.change in _CHANGES
    if owner != "self" or not name.isidentifier() or not (is_value or kind.name in _OF_NUMBERS):
        return None
    callers = (line.filename for compiled in compiles for line in compiled.user_stack)
    inlined = (read.filename for compiled in compiles for read in compiled.lines)
    files = {file for file in (*callers, *inlined) if not is_foreign(file)} | {function.filename}
    if not _is_set_in_init_alone(name, tuple(sorted(files))):
        return None
    fix = "" if is_foreign(function.filename) else OF_EACH_OBJECT.fix
    return replace(OF_EACH_OBJECT, cause=kind.cause, place_words=kind.place_words, fix=fix)


_OF_NUMBERS = ("number-in-condition", "number-in-call", "held-number-in-call", "specialized-number")


@functools.lru_cache(maxsize=256)
def _is_set_in_init_alone(name: str, files: tuple[str, ...]) -> bool:
    """Return whether only constructors in some files set an attribute of `self`, and no text names it for `setattr`."""
    makers = 0
    for tree in (parsed(file_text(file)) for file in files):
        nodes = nodes_below(tree)
        inside = {id(node) for maker in nodes if _is_maker(maker) for node in nodes_below(maker)}
        stores = [node for node in nodes if _is_store(node, name)]
        if any(id(node) not in inside for node in stores) or any(_may_set(node, name) for node in nodes):
            return False
        makers += len(stores)
    return makers > 0


def _is_store(node: ast.AST, name: str) -> bool:
    """Return whether a node assigns or deletes an attribute."""
    return isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, (ast.Store, ast.Del))


def _may_set(node: ast.AST, name: str) -> bool:
    """Return whether a node may set an attribute in another way: of an object that is not `self`, or by its name."""
    match node:
        case ast.Attribute(value=owner) if _is_store(node, name):
            return not (isinstance(owner, ast.Name) and owner.id == "self")
        case ast.Constant(value=str() as text):
            return text == name
        case ast.Call(func=ast.Name(id="setattr"), args=[_, key, _]):
            return not isinstance(key, ast.Constant)
    return False


def is_replaced(function: Function, parameter: str) -> bool:
    """Return whether code outside of constructors assigns an attribute with the name of a parameter.

    A module whose parameter is replaced by a larger one is no other module.

    Args:
        function: the function that was compiled, in whose file the assignment is sought.
        parameter: the parameter, as the program writes it.
    """
    name = parameter.rpartition(".")[2]
    return not is_foreign(function.filename) and _is_set_later(name, function.filename)


@functools.lru_cache(maxsize=256)
def _is_set_later(name: str, file: str) -> bool:
    nodes = nodes_below(parsed(file_text(file)))
    inside = {id(node) for maker in nodes if _is_maker(maker) for node in nodes_below(maker)}
    return any(_is_store(node, name) and id(node) not in inside for node in nodes)


def _is_maker(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name in _MAKERS
