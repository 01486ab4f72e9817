"""Find the file of a dump in which a running function can be stepped: the file whose code is proven equivalent.

before: <eval_with_key>.3 runs, and no debugger finds a file for it
    def forward(self, args_list):
        args_iter = iter(args_list)
        primals_1 = next(args_iter)
        args_list.clear()
        neg = torch.ops.aten.neg.default(primals_1)
        return (neg,)

after: the same instructions, in the lines of `__compiled_fn_1.Forward_graph.0.py`
    def forward(self, primals_1: "f32[10][1]cpu"):
        neg: "f32[10][1]cpu" = torch.ops.aten.neg.default(primals_1)
        return (neg,)
"""

from __future__ import annotations

import ast
import copy
import textwrap
import types
from collections.abc import Iterator
from pathlib import Path

from depyf.bytecode.host import codes_in_order
from depyf.bytecode.reader import read
from depyf.bytecode.records import dataclass
from depyf.errors import DecompilationError
from depyf.model.user_source import code_source
from depyf.verify.compare import verify
from depyf.verify.level import Level


@dataclass(frozen=True, slots=True)
class Steppable:
    """A running function, code in the lines of a file that is proven equivalent, and the line to break at."""

    function: types.FunctionType
    code: types.CodeType
    path: Path
    line: int


class SourceFile:
    """A file of a dump and the functions in it."""

    def __init__(self, path: Path) -> None:
        """Read and parse the file.

        Raises:
            OSError: it cannot be read.
            SyntaxError, ValueError: it is not Python.
        """
        self.path = path
        self._tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        self._functions = [node for node in ast.walk(self._tree) if isinstance(node, ast.FunctionDef)]
        self._codes = {
            (code.co_name, code.co_firstlineno): code for code in codes_in_order(compile(self._tree, str(path), "exec"))
        }

    def steppable(self, function: types.FunctionType) -> Steppable | None:
        """Return the function in the lines of this file, or None if the file has no function proven equivalent."""
        for node in self._functions:
            if node.name != function.__code__.co_name:
                continue
            for code in self._candidates(node, function):
                if _is_same(function.__code__, code):
                    return Steppable(function, code, self.path, node.body[0].lineno)
        return None

    def _candidates(self, node: ast.FunctionDef, function: types.FunctionType) -> Iterator[types.CodeType]:
        as_written = self._codes.get((node.name, _first_line(node)))
        if as_written is not None:
            yield as_written
        boxed = with_prologue(node, function)
        if boxed is not None:
            module = ast.Module([*_future_imports(self._tree), boxed], [])
            codes = codes_in_order(compile(module, str(self.path), "exec"))
            yield from (code for code in codes if code.co_name == node.name)


def with_prologue(node: ast.FunctionDef, function: types.FunctionType) -> ast.FunctionDef | None:
    """Return a function of a file with the parameters and first statements of the running one.

    torch passes some graphs their arguments in one list, and the printed graph does not show it. The first statements,
    which unpack the list, get the lines of the parameters. Returns None if the source is missing or no longer than the
    file's.
    """
    running = _source_of(function)
    if running is None or len(running.body) <= len(node.body):
        return None
    lines = {arg.arg: arg.lineno for arg in node.args.args}
    prologue = [copy.deepcopy(statement) for statement in running.body[: len(running.body) - len(node.body)]]
    for statement in prologue:
        stored = [name.id for name in ast.walk(statement) if isinstance(name, ast.Name) and name.id in lines]
        _move(statement, lines[stored[0]] if stored else node.lineno)
    merged = copy.copy(node)
    merged.args = copy.deepcopy(running.args)
    _move(merged.args, node.lineno)
    merged.body = [*prologue, *node.body]
    return merged


def _source_of(function: types.FunctionType) -> ast.FunctionDef | None:
    try:
        tree = ast.parse(textwrap.dedent(code_source(function.__code__)[0]))
    except SyntaxError:
        return None
    definition = tree.body[0] if tree.body else None
    return definition if isinstance(definition, ast.FunctionDef) else None


def _move(node: ast.AST, line: int) -> None:
    for child in ast.walk(node):
        if isinstance(child, ast.expr | ast.stmt | ast.arg | ast.keyword):
            child.lineno = child.end_lineno = line
            child.col_offset = child.end_col_offset = 0


def _is_same(running: types.CodeType, candidate: types.CodeType) -> bool:
    """Return whether a candidate may replace the code of a running function."""
    if running.co_freevars != candidate.co_freevars:
        return False
    try:
        return verify(read(running), read(candidate)).level is not Level.UNPROVEN
    except DecompilationError:
        return False


def _first_line(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _future_imports(tree: ast.Module) -> list[ast.stmt]:
    return [
        statement
        for statement in tree.body
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
    ]
