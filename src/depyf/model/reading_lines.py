"""Find the line of a function that reads a value, if torch names no line for a guard, as 2.6 mostly does.

    def forward(self, x, options):
        x = self.first(x)
        return x * options.scale if options.on else x

The third line reads `options.on`. The second reads `self.first.training` through `self.first`. `self` alone does not
count, because every attribute of an object is reached through it.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator, Sequence

from depyf.model.lines_read import LinesRead
from depyf.model.syntax import children, parsed
from depyf.model.user_source import function_source

_Value = (ast.Name, ast.Attribute, ast.Subscript)


def reading_line(subject: str, source: str, after: int = 0) -> int | None:
    """Return the line of a function's source, counted from 0, that first reads a value, or None.

    subject: the value, or a relation of several values, of which the last one to be read counts.
    after: earlier lines are left out, because a resume function does not run them.

    >>> reading_line("o.on", "def f(x, o):\\n    x = x + 1\\n    return x if o.on else -x")
    2
    >>> reading_line("o.on", "run = each(\\n    lambda x: x if o.on else -x,\\n)")
    1
    """
    try:
        tree = ast.parse(subject, mode="eval").body
    except SyntaxError:
        return None
    reads = _reads(source)
    lines = [_first(value, reads, after) for value in _values(tree)]
    return max((line for line in lines if line is not None), default=None)


def followed(subject: str, here: LinesRead, read: Iterable[LinesRead]) -> tuple[str, int] | None:
    """Return the file and the line that first read a value, in a function or in one that it passes the value to.

    def run(x, value):
        return scaled(x, value)  # passes `value` as `factor`

    def scaled(x, factor):
        return x * factor        # this line reads it

    Args:
        subject: the value as the function spells it.
        here: the function.
        read: the lines that Dynamo read when it compiled the function, including those of its callees.
    """
    place_read, place_of_here = None, (here.filename, here.first_line)
    others = [lines_read for lines_read in read if (lines_read.filename, lines_read.first_line) != place_of_here]
    while True:
        source = function_source(here.filename, here.first_line)
        line = reading_line(subject, source)
        if line is None:
            return place_read
        place_read = here.filename, here.first_line + line
        called = _handed_over(subject, source, line, others)
        if called is None:
            return place_read
        here, subject = called
        others.remove(here)


def _handed_over(subject: str, source: str, line: int, others: list[LinesRead]) -> tuple[LinesRead, str] | None:
    """Return the function that a line passes a value to, and the value's name there; None if that is not certain."""
    for call in (node for node in ast.walk(parsed(source)) if isinstance(node, ast.Call) and node.lineno - 1 == line):
        for place, given in [*enumerate(call.args), *((keyword.arg, keyword.value) for keyword in call.keywords)]:
            text = ast.unparse(given)
            rest = _normal(subject).removeprefix(text)
            if not isinstance(given, _Value) or rest == _normal(subject) or rest[:1] not in ("", ".", "["):
                continue
            name = ast.unparse(call.func).rpartition(".")[2]
            named = [lines_read for lines_read in others if lines_read.name.rpartition(".")[2] == name]
            is_attribute = isinstance(call.func, ast.Attribute)
            taking = [(candidate, _parameter(candidate, place, is_attribute)) for candidate in named or others]
            taken = [(candidate, parameter + rest) for candidate, parameter in taking if parameter]
            if len(taken) == 1:
                return taken[0]
    return None


def _normal(subject: str) -> str:
    return ast.unparse(ast.parse(subject, mode="eval"))


def _parameter(called: LinesRead, place: int | str | None, is_attribute: bool) -> str:
    """Return the parameter that receives an argument, or "" if that is unknown."""
    functions = _functions(function_source(called.filename, called.first_line))
    if not functions:
        return ""
    of = functions[0].args
    names = [parameter.arg for parameter in (*of.posonlyargs, *of.args)]
    if isinstance(place, str):
        return place if place in names or any(parameter.arg == place for parameter in of.kwonlyargs) else ""
    names = names[1:] if is_attribute and names[:1] == ["self"] else names
    return names[place] if place is not None and place < len(names) else ""


def _functions(source: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [
        statement for statement in parsed(source).body if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]


def _body(source: str) -> Sequence[ast.AST]:
    """Return the body of a function: its statements, or the expression of the only lambda in the text."""
    functions = _functions(source)
    if functions:
        return functions[0].body
    lambdas = [node for node in ast.walk(parsed(source)) if isinstance(node, ast.Lambda)]
    return [lambdas[0].body] if len(lambdas) == 1 else []


def _values(tree: ast.expr) -> Iterator[ast.expr]:
    """Yield the values in an expression, without torch's methods such as `size`."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            pending.append(node.func.value)
        elif isinstance(node, _Value) and _root(node) is not None:
            yield node
        else:
            pending += children(node)


def _root(tree: ast.expr) -> str | None:
    while isinstance(tree, (ast.Attribute, ast.Subscript)):
        tree = tree.value
    return tree.id if isinstance(tree, ast.Name) else None


def _first(value: ast.expr, reads: tuple[tuple[int, str, bool], ...], after: int) -> int | None:
    """Return the first line that reads a value, or else its container, as a whole. `self` alone does not count."""
    wanted, is_holder = value, False
    while True:
        text = ast.unparse(wanted)
        named = (read for read in reads if read[1] == text and read[0] >= after)
        line = next((line for line, _, is_whole in named if is_whole or not is_holder), None)
        if line is not None or not isinstance(wanted, (ast.Attribute, ast.Subscript)):
            return None if is_holder and text == "self" else line
        wanted, is_holder = wanted.value, True


@functools.lru_cache(maxsize=64)
def _reads(source: str) -> tuple[tuple[int, str, bool], ...]:
    """Return each read of a value in a function's body: its line, its text, and whether it is read as a whole."""
    reads: list[tuple[int, int, str, bool]] = []
    pending: list[tuple[ast.AST, bool]] = [(statement, True) for statement in _body(source)]
    while pending:
        node, is_whole = pending.pop()
        if isinstance(node, _Value) and not isinstance(node.ctx, ast.Store):
            reads.append((node.lineno - 1, node.col_offset, ast.unparse(node), is_whole))
        if isinstance(node, ast.AugAssign) and isinstance(node.target, _Value):
            reads.append((node.lineno - 1, node.col_offset, ast.unparse(node.target), True))
        for child in children(node):
            is_inside = isinstance(node, (ast.Attribute, ast.Subscript)) and child is node.value
            pending.append((child, not is_inside))
    return tuple((line, text, is_whole) for line, _, text, is_whole in sorted(reads))
