"""Find the rule that shows a mutant to be the same program."""

from __future__ import annotations

import ast
import types

from tests.quality.survivors.instructions import same_instructions
from tests.quality.survivors.walk import is_same_to_all

OF_ARGUMENT = frozenset({"vars", "dir"})
"""Builtins that look at the variables of their caller, but not where they are given something else to look at."""


def explained(original: ast.AST, changed: ast.AST, codes: tuple[types.CodeType, types.CodeType]) -> str | None:
    """Return the rule that shows a mutant to be the same program, or None where none shows it.

    original, changed: the texts that `codes` were compiled from.
    """
    if same_instructions(*codes):
        return "same instructions"
    return "same to whoever looks" if is_same_to_all(codes, called_only(original) & called_only(changed)) else None


def called_only(tree: ast.AST) -> frozenset[str]:
    """Return which of `vars` and `dir` are called at once with an argument wherever they are named."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
    called = {id(node.func) for node in calls if not isinstance(node.args[0], ast.Starred)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in OF_ARGUMENT]
    return OF_ARGUMENT - {node.id for node in names if id(node) not in called}
