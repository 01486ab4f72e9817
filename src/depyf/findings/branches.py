"""Advice for a branch on a tensor by what its arms do: `torch.where` chooses between values, and nothing else."""

from __future__ import annotations

import ast

from depyf.model.run import Function
from depyf.model.syntax import parsed, statements_below
from depyf.model.user_line import UserLine
from depyf.model.user_source import file_text

BRANCH = "break-data-dependent-branch"
CHECK = "check the values after the call; or write `torch._assert_async(condition, message)`, which stays in the graph"
REPORT = "return the value, and report it after the call of the compiled function"

_REPORTING = ("print", "warn", "warning", "info", "debug", "error", "critical", "exception", "log")
"""The names of functions that report: `print`, `warnings.warn`, and the methods of a logger."""


def advice_by_arms(function: Function, line: UserLine) -> str:
    """Return what to do about a branch at a line whose only arm raises an exception or reports, else "".

    For `if loss.isnan(): raise ValueError` there is no second value that `torch.where` could choose.

    Args:
        function: The function that was compiled.
        line: The line of the branch, in the function or in one that Dynamo inlined.
    """
    inside = 0 <= line.line - function.first_line < len(function.source.splitlines())
    if line.filename == function.filename and inside:
        tree, number = parsed(function.source), line.line - function.first_line + 1
    else:
        tree, number = parsed(file_text(line.filename)), line.line
    branches = [each for each in statements_below(tree) if isinstance(each, ast.If) and each.lineno == number]
    if len(branches) != 1 or branches[0].orelse:
        return ""
    *before, last = branches[0].body
    if not all(map(_reports, before)):
        return ""
    if isinstance(last, ast.Raise):
        return CHECK
    return REPORT if _reports(last) else ""


def _reports(statement: ast.stmt) -> bool:
    """Return whether a statement is a call that reports something."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    called = statement.value.func
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    return name in _REPORTING
