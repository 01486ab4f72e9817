"""Find the objects that a compile changes in the user's own source, if torch does not report them, as before 2.12."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from depyf.model.lines_read import LinesRead
from depyf.model.parts import SideEffect
from depyf.model.syntax import names_in, nodes_below, parsed, statements_below
from depyf.model.user_line import UserLine
from depyf.model.user_source import function_source


def assigned_objects(read: Iterable[LinesRead], function: tuple[str, int]) -> Iterator[SideEffect]:
    """Yield the objects of which Dynamo traced an assignment to an attribute or an item.

        def forward(self, x):
            if self.mask is None:
                self.mask = x.new_ones(8)  # changes `self`, if Dynamo read this line

    An object that the function itself made is left out. In other functions only objects are known that are neither
    parameters nor local variables.

    Args:
        read: what Dynamo read in the compile.
        function: the file and the first line of the compiled function.
    """
    for lines_read in read:
        is_own = (lines_read.filename, lines_read.first_line) == function
        for definition in _definitions(lines_read):
            hidden = _local_names(definition) - (_parameters(definition) if is_own else set())
            for holder, line in _changes(definition):
                number, named = lines_read.first_line + line - 1, names_in(holder)
                if number in lines_read.read and named and named[0] not in hidden:
                    text = function_source(lines_read.filename, lines_read.first_line).splitlines()[line - 1].strip()
                    where = UserLine(lines_read.filename, number, text, lines_read.name.rpartition(".")[2])
                    yield SideEffect(ast.unparse(holder), (where,))


def _definitions(lines_read: LinesRead) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    body = parsed(function_source(lines_read.filename, lines_read.first_line)).body
    return [stmt for stmt in body if isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef))]


def _changes(definition: ast.AST) -> Iterator[tuple[ast.expr, int]]:
    """Yield each object whose attribute or item a statement assigns, and the line of the statement."""
    for stmt in sorted(statements_below(definition), key=lambda stmt: stmt.lineno):
        targets = stmt.targets if isinstance(stmt, ast.Assign) else []
        targets = [stmt.target] if isinstance(stmt, (ast.AugAssign, ast.AnnAssign)) else targets
        for target in targets:
            if isinstance(target, (ast.Attribute, ast.Subscript)):
                yield target.value, stmt.lineno


def _parameters(definition: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    return {node.arg for node in nodes_below(definition.args) if isinstance(node, ast.arg)}


def _local_names(definition: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Return the parameters of a function and the names that it assigns, without those of globals and closures."""
    nodes = nodes_below(definition)
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    outside = {name for node in nodes if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
    return (stored | _parameters(definition)) - outside
