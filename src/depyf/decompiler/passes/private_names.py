"""Private names of a class, as written inside it.

Before: class A: def f(self): self._A__x = 1
After:  class A: def f(self): self.__x = 1

Both compile to the same operations. But a class that lists the attributes that its methods assign (3.13 and newer)
lists them as they were written.
"""

from __future__ import annotations

import ast

from depyf.bytecode.code import Code
from depyf.bytecode.normalise import normalise
from depyf.decompiler.structure.class_ends import STATIC

NAMED: tuple[tuple[type[ast.AST], str], ...] = (
    (ast.Attribute, "attr"),
    (ast.Name, "id"),
    (ast.arg, "arg"),
    (ast.ExceptHandler, "name"),
    (ast.MatchAs, "name"),
    (ast.MatchStar, "name"),
    (ast.MatchMapping, "rest"),
)
"""Nodes with a name that the compiler mangles, and its field."""


def write_private_names(stmts: list[ast.stmt], code: Code) -> None:
    """Write the mangled names in a class body as they are written there; nested classes have already done this."""
    owner = code.name.lstrip("_")
    if not owner:
        return
    prefix = f"_{owner}"
    if not _has_private(code, prefix):
        return
    listed = _listed(code)
    work: list[ast.AST] = list(stmts)
    while work:
        node = work.pop()
        for kind, field in NAMED:
            if isinstance(node, kind) and (name := getattr(node, field)) is not None and name not in listed:
                setattr(node, field, _written(name, prefix))
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            node.names = [_written(name, prefix) for name in node.names]
        if isinstance(node, ast.ClassDef):
            work.extend([*node.bases, *node.keywords, *node.decorator_list])
        else:
            work.extend(ast.iter_child_nodes(node))


def _has_private(code: Code, prefix: str) -> bool:
    """Return whether code, or nested code, has a name that the compiler mangles for this class."""
    work = [code]
    for current in work:  # The list grows during the iteration.
        named = (*current.names, *current.varnames, *current.cellvars, *current.freevars)
        if any(name.startswith(prefix) and _written(name, prefix) is not name for name in named):
            return True
        for const in current.consts:
            if isinstance(const, Code):
                work.append(const)
            elif type(const) is tuple and any(type(item) is str and item.startswith(prefix) for item in const):
                return True  # Attributes of patterns, imported names.
    return False


def _written(name: str, prefix: str) -> str:
    is_private = name.startswith(prefix + "__") and not name.endswith("__")
    return name[len(prefix) :] if is_private else name


def _listed(code: Code) -> frozenset[object]:
    """Return the names that the class lists: mangled ones were written so."""
    if STATIC not in code.names:
        return frozenset()
    instructions = normalise(code).instructions
    listed = [before.arg for before, now in zip(instructions, instructions[1:]) if now.arg == STATIC]
    return frozenset(name for names in listed if isinstance(names, tuple) for name in names)
