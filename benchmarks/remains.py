"""What a reader would still take out of a source: lists that are only taken apart, names used once and at once."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from depyf.model.names import is_installed

SILENT = (ast.Constant, ast.expr_context, ast.Tuple, ast.List, ast.Starred)
"""What nobody can see being evaluated; iterables are only starred where they are lists."""


def dead_lists(source: str) -> list[str]:
    """Return the names bound to a list or tuple display that is never read, or read item by item only."""
    tree = ast.parse(source)
    owner = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    reads: dict[str, list[ast.AST]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            reads.setdefault(node.id, []).append(owner[id(node)])
    dead = []
    for name, value in _bindings(tree):
        if isinstance(value, (ast.List, ast.Tuple)) and all(_takes_item(read) for read in reads.get(name, [])):
            dead.append(name)
    return dead


def used_at_once(source: str) -> list[str]:
    """Return the names that are bound once and read once, by the next statement, before that does anything else."""
    tree = ast.parse(source)
    bound = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)]
    read = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    quiet = {*bound, *(node.arg for node in ast.walk(tree) if isinstance(node, ast.arg))}
    used = []
    for first, second in _neighbours(tree):
        if isinstance(first, ast.Assign) and len(first.targets) == 1 and isinstance(first.targets[0], ast.Name):
            name = first.targets[0].id
            if bound.count(name) == read.count(name) == 1 and _is_first(name, second, quiet):
                used.append(name)
    return used


def _bindings(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            yield from ((target.id, node.value) for target in node.targets if isinstance(target, ast.Name))


def _takes_item(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.slice, (ast.Constant, ast.Slice))


def _neighbours(tree: ast.AST) -> Iterator[tuple[ast.stmt, ast.stmt]]:
    for node in ast.walk(tree):
        for body in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            if isinstance(body, list):
                yield from zip(body, body[1:])


def _is_quiet(name: str, variables: set[str]) -> bool:
    return name in variables or is_installed(name)


def _is_first(name: str, stmt: ast.stmt, quiet: set[str]) -> bool:
    """Return whether a statement reads the name before it does anything that others could see.

    `quiet` are variables.
    """
    if not isinstance(stmt, (ast.Assign, ast.Expr, ast.Return, ast.If)):
        return False
    value = stmt.test if isinstance(stmt, ast.If) else stmt.value
    work: list[tuple[ast.AST, bool]] = [(value, False)] if value is not None else []
    while work:
        node, is_done = work.pop()
        if isinstance(node, ast.Name) and node.id == name:
            return True
        if is_done or isinstance(node, ast.Name):
            if not (isinstance(node, SILENT) or (isinstance(node, ast.Name) and _is_quiet(node.id, quiet))):
                return False
        elif isinstance(node, (ast.Lambda, ast.IfExp, ast.BoolOp, ast.ListComp, ast.GeneratorExp)):
            return False
        else:
            work.append((node, True))
            work.extend((child, False) for child in reversed(list(ast.iter_child_nodes(node))))
    return False
