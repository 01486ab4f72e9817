"""What a dump says of itself, and what can be checked of its files without it."""

from __future__ import annotations

import ast
import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROVEN = ("EXACT", "EQUIVALENT")


@dataclass(frozen=True)
class Compile:
    """A compile as `index.json` tells it.

    level: empty where there is no source; reason then says why, and where the level is UNPROVEN too.
    file: name of the transformed code in the dump, empty where there is none.
    installed: whether that file is what runs.
    operations: how many its graphs hold.
    """

    id: str
    name: str
    level: str
    reason: str
    file: str
    installed: bool
    operations: int

    def __str__(self) -> str:
        return f"{self.id} {self.name}: {self.level or 'no source'} {self.reason}".rstrip()


@dataclass(frozen=True)
class Dump:
    """A directory that `prepare_debug` filled."""

    directory: Path

    @property
    def index(self) -> dict[str, Any]:
        """What `index.json` holds."""
        index: dict[str, Any] = json.loads((self.directory / "index.json").read_text(encoding="utf-8"))
        return index

    def compiles(self) -> list[Compile]:
        """Return every compile of every function and resume function."""
        roots = self.index["functions"]
        functions = [*roots, *(resume for root in roots for resume in root["resume_functions"])]
        return [_compile(function["name"], compiled) for function in functions for compiled in function["compiles"]]

    def python_files(self) -> list[Path]:
        """Return every `.py`, in the order of their names."""
        return sorted(self.directory.rglob("*.py"))

    def unreadable(self) -> list[str]:
        """Return one line for each `.py` that does not compile."""
        problems = []
        for path in self.python_files():
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    compile(path.read_text(encoding="utf-8"), str(path), "exec", dont_inherit=True)
            except SyntaxError as error:
                problems.append(f"{path.name}: {error}")
        return problems


def _compile(name: str, compiled: dict[str, Any]) -> Compile:
    transformed, operations = compiled["transformed"], compiled["op_count"] or 0
    if "unavailable" in transformed:
        return Compile(compiled["id"], name, "", transformed["unavailable"], "", False, operations)
    is_runnable = transformed["installed"] or not transformed["reason"]
    return Compile(
        compiled["id"], name, transformed["level"], transformed["reason"], transformed["file"], is_runnable, operations
    )


def lines_of_body(text: str, name: str) -> int:
    """Count the lines of code in the body of function `name`, comments and docstring not among them."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            body = node.body[1:] if ast.get_docstring(node) else node.body
            rows = text.splitlines()[body[0].lineno - 1 : body[-1].end_lineno]
            return sum(1 for row in rows if row.strip() and not row.strip().startswith("#"))
    raise LookupError(f"no function {name}")


def lists_taken_apart(text: str) -> list[str]:
    """Return the displays in `text` that are built only to be subscripted, starred or unpacked."""
    tree = ast.parse(text)
    displays = []
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=ast.List() | ast.Tuple(), ctx=ast.Load()):
                displays.append(ast.unparse(node))
            case ast.Starred(value=ast.List() | ast.Tuple()):
                displays.append(ast.unparse(node))
            case ast.Assign(targets=[ast.Tuple() | ast.List()], value=ast.List()):
                displays.append(ast.unparse(node))
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            displays.extend(_named_and_taken_apart(function))
    return displays


def _named_and_taken_apart(function: ast.FunctionDef) -> list[str]:
    """Return the names that hold a list display, and are never used but to take it apart or fill it."""
    parents = {child: node for node in ast.walk(function) for child in ast.iter_child_nodes(node)}
    lists = {
        node.targets[0].id
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.List)
    }
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in lists:
            if not _takes_apart(parents[node], node):
                lists.discard(node.id)
    return sorted(lists)


def _takes_apart(parent: ast.AST, name: ast.Name) -> bool:
    match parent:
        case ast.Subscript(value=value) if value is name:
            return True
        case ast.Starred() | ast.Attribute(attr="append" | "extend" | "insert" | "pop"):
            return True
        case ast.Assign(targets=[ast.Tuple() | ast.List()]):
            return True
    return False
