"""Statements of a text, with the nodes that Python has no text for: `v1` is a temporary, another name a variable."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from depyf.bytecode.code import Code
from depyf.decompiler.emit.grammar import Grammar
from depyf.decompiler.lift.nodes import Function, Temp, Var
from depyf.decompiler.show import tree
from depyf.decompiler.steps import recording
from tests.decompiler.test_forms import code_of


class _Reader(ast.NodeTransformer):
    def __init__(self, scopes: Mapping[str, str], nodes: Mapping[str, ast.expr]) -> None:
        self.scopes, self.nodes = scopes, nodes

    def visit_Name(self, node: ast.Name) -> ast.expr:  # noqa: N802  (as ast has it)
        if node.id in self.nodes:
            return self.nodes[node.id]
        if node.id[0] == "v" and node.id[1:].isdigit():
            return Temp(temp=int(node.id[1:]))
        return Var(node.id, node.ctx, self.scopes.get(node.id, "fast"))


def parsed(
    source: str, scopes: Mapping[str, str] | None = None, nodes: Mapping[str, ast.expr] | None = None
) -> list[ast.stmt]:
    """Return the statements of a source.

    scopes: how variables are reached that are not `fast`.
    nodes: what stands for names that are neither.
    """
    body: list[ast.stmt] = _Reader(scopes or {}, nodes or {}).visit(ast.parse(source)).body
    return body


def shown(stmts: list[ast.stmt]) -> str:
    """Return statements as text."""
    return tree.text(stmts, GRAMMAR)


def plain(expr: ast.expr | None) -> str:
    """Return an expression as text, or `nothing`."""
    return "nothing" if expr is None else shown([ast.Expr(value=expr)]).rstrip("\n")


def function_of(code: Code) -> Function:
    """Return a function that is made of code, and of nothing else."""
    nothing = dict.fromkeys(("defaults", "kwdefaults", "annotations", "closure", "annotate"))
    return Function(code=code, type_params=[], **nothing)


def codes_in(source: str) -> list[Code]:
    """Return the code of the functions inside of the one that a source defines."""
    return [const for const in code_of(source).consts if isinstance(const, Code)]


class _Steps:
    def __init__(self) -> None:
        self.heard: list[str] = []

    def begin(self, work: object) -> None:
        """Pass over a beginning."""

    def attempt(self, work: object, why: str) -> None:
        """Pass over another beginning."""

    def step(self, message: str) -> None:
        """Keep a step."""
        self.heard.append(message)

    def after(self, name: str, work: object) -> None:
        """Pass over an end."""


def steps_of(call: Callable[[], object]) -> list[str]:
    """Return the steps that are told while something is called."""
    steps = _Steps()
    with recording(steps):
        call()
    return steps.heard


GRAMMAR = Grammar.of(code_of("x = 1"))
