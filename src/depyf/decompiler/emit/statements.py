"""Write statements as lines.

The tree is walked with an explicit stack of (statement, indentation) pairs and finished lines.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from depyf.bytecode.host import pausing
from depyf.decompiler.emit.docstrings import docstring_source
from depyf.decompiler.emit.expressions import BINARY, ExpressionWriter
from depyf.decompiler.emit.grammar import Grammar
from depyf.decompiler.emit.patterns import pattern_source
from depyf.decompiler.emit.precedence import STAR, TEST, TUPLE, WALRUS, YIELD
from depyf.decompiler.lift.nodes import TypeAliasStatement, TypeParam, is_starred

Part = str | tuple[Sequence[ast.stmt], int]
INDENT = "    "
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
"""Statements with blank lines around them."""


@pausing
def write(body: Sequence[ast.stmt], grammar: Grammar) -> str:
    """Return the source of statements, each line ended by a newline."""
    return StatementWriter(grammar).write(body)


class StatementWriter:
    """Writes statements: the lines of each, and the nested statements to write next.

    rules: how to write each statement.
    """

    def __init__(self, grammar: Grammar, rules: Mapping[type, Rule] | None = None) -> None:
        self.expressions = ExpressionWriter(grammar)
        self.rules = RULES if rules is None else rules

    def write(self, body: Sequence[ast.stmt]) -> str:
        """Return the source of statements, each line ended by a newline."""
        return "".join(line + "\n" for line in self.lines(body))

    def lines(self, body: Sequence[ast.stmt]) -> list[str]:
        """Return the lines of statements, as `parts` makes them."""
        lines: list[str] = []
        work: list[Part] = [(body, 0)]
        while work:
            part = work.pop()
            if isinstance(part, str):
                lines.append(part)
                continue
            stmts, depth = part
            below: ast.stmt | None = None
            for stmt in reversed(stmts):
                parts = self.parts(stmt, depth)
                if len(parts) > 1:
                    parts.reverse()
                if below is not None:
                    work += [""] * _blank_lines(stmt, below, depth)
                work += parts
                below = stmt
        return lines

    def parts(self, stmt: ast.stmt, depth: int) -> list[Part]:
        """Return the lines and inner sequences of a statement."""
        indent = INDENT * depth
        parts = self.rule(type(stmt))(self, stmt, depth)
        for number, part in enumerate(parts):
            if type(part) is str:
                parts[number] = indent + part
        return parts

    def rule(self, kind: type) -> Rule:
        """Return the rule for a kind of statement, or for one of its base classes."""
        for base in kind.__mro__:
            rule = self.rules.get(base)
            if rule is not None:
                return rule
        raise TypeError(f"{kind.__name__} has no source form")

    def text(self, expr: ast.expr, precedence: int = TEST) -> str:
        """Return the source of an expression."""
        return self.expressions.write(expr, precedence)

    def value(self, expr: ast.expr) -> str:
        """Return the right side of an assignment; `a = b := c` is not a statement."""
        return self.text(expr, TEST if isinstance(expr, ast.NamedExpr) else YIELD)

    def target(self, expr: ast.expr) -> str:
        """Return an assignment target."""
        return self.text(expr, TUPLE)


def _blank_lines(stmt: ast.stmt, below: ast.stmt, depth: int) -> int:
    """Return the number of blank lines between two statements, according to PEP 8 and PEP 257."""
    if isinstance(stmt, DEFINITIONS) or isinstance(below, DEFINITIONS):
        return 1 if depth else 2
    return 1 if not depth and _docstring(stmt) is not None else 0


def _docstring(stmt: ast.stmt) -> str | None:
    """Return the docstring if the statement is one: no other string is a statement."""
    value = stmt.value.value if isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant) else None
    return value if isinstance(value, str) else None


Rule = Callable[[StatementWriter, "ast.stmt", int], "list[Part]"]


def _expr(writer: StatementWriter, stmt: ast.Expr, depth: int) -> list[Part]:
    docstring = _docstring(stmt)
    if docstring is not None:
        cleaned = writer.expressions.grammar.cleans_docstrings
        return [docstring_source(docstring, INDENT * depth, cleaned=cleaned)]
    return [writer.text(stmt.value, YIELD if isinstance(stmt.value, (ast.Yield, ast.YieldFrom)) else TEST)]


def _assign(writer: StatementWriter, stmt: ast.Assign, depth: int) -> list[Part]:
    targets = "".join(f"{writer.target(target)} = " for target in stmt.targets)
    is_parted = any(isinstance(target, (ast.Tuple, ast.List)) for target in stmt.targets)
    return [targets + writer.value(_items(stmt.value) if is_parted else stmt.value)]


def _items(value: ast.expr) -> ast.expr:
    """Return a constant of several items as a display: `return 1, 2` and `a, b = 1, 2` have no parentheses."""
    held: object = value.value if isinstance(value, ast.Constant) else None
    if type(held) is not tuple or len(held) < 2:
        return value
    return ast.Tuple(elts=[ast.Constant(value=item) for item in held], ctx=ast.Load())


def _aug_assign(writer: StatementWriter, stmt: ast.AugAssign, depth: int) -> list[Part]:
    value = writer.text(stmt.value, STAR) if is_starred(stmt.value) else writer.value(stmt.value)
    return [f"{writer.target(stmt.target)} {BINARY[type(stmt.op)][0]}= {value}"]


def _ann_assign(writer: StatementWriter, stmt: ast.AnnAssign, depth: int) -> list[Part]:
    text = writer.text(stmt.target)
    if not stmt.simple and isinstance(stmt.target, ast.Name):
        text = f"({text})"
    value = ""
    if stmt.value is not None:
        value = f" = {writer.text(stmt.value, STAR) if isinstance(stmt.value, ast.Tuple) else writer.value(stmt.value)}"
    return [f"{text}: {writer.text(stmt.annotation)}{value}"]


def _return(writer: StatementWriter, stmt: ast.Return, depth: int) -> list[Part]:
    if stmt.value is None:
        return ["return"]
    if isinstance(stmt.value, ast.NamedExpr):
        return [f"return {writer.text(stmt.value)}"]
    return [f"return {writer.text(_items(stmt.value), STAR if is_starred(stmt.value) else TUPLE)}"]


def _delete(writer: StatementWriter, stmt: ast.Delete, depth: int) -> list[Part]:
    return ["del " + ", ".join(writer.text(target) for target in stmt.targets)]


def _raise(writer: StatementWriter, stmt: ast.Raise, depth: int) -> list[Part]:
    if stmt.exc is None:
        return ["raise"]
    cause = f" from {writer.text(stmt.cause)}" if stmt.cause is not None else ""
    return [f"raise {writer.text(stmt.exc)}{cause}"]


def _assert(writer: StatementWriter, stmt: ast.Assert, depth: int) -> list[Part]:
    message = f", {writer.text(stmt.msg)}" if stmt.msg is not None else ""
    return [f"assert {writer.text(stmt.test)}{message}"]


def _word(word: str) -> Rule:
    return lambda writer, stmt, depth: [word]


def _names(stmt: ast.Import | ast.ImportFrom) -> str:
    return ", ".join(name.name + (f" as {name.asname}" if name.asname else "") for name in stmt.names)


def _lazy(stmt: ast.Import | ast.ImportFrom) -> str:
    return "lazy " if getattr(stmt, "is_lazy", False) else ""


def _import(writer: StatementWriter, stmt: ast.Import, depth: int) -> list[Part]:
    return [f"{_lazy(stmt)}import {_names(stmt)}"]


def _import_from(writer: StatementWriter, stmt: ast.ImportFrom, depth: int) -> list[Part]:
    return [f"{_lazy(stmt)}from {'.' * (stmt.level or 0)}{stmt.module or ''} import {_names(stmt)}"]


def _global(writer: StatementWriter, stmt: ast.Global | ast.Nonlocal, depth: int) -> list[Part]:
    word = "global" if isinstance(stmt, ast.Global) else "nonlocal"
    return [f"{word} {', '.join(stmt.names)}"]


def _if(writer: StatementWriter, stmt: ast.If, depth: int) -> list[Part]:
    parts: list[Part] = [f"if {writer.text(stmt.test, WALRUS)}:", (stmt.body, depth + 1)]
    orelse = stmt.orelse
    while len(orelse) == 1 and isinstance(orelse[0], ast.If):
        inner = orelse[0]
        parts += [f"elif {writer.text(inner.test, WALRUS)}:", (inner.body, depth + 1)]
        orelse = inner.orelse
    return parts + _else(orelse, depth)


def _else(orelse: list[ast.stmt], depth: int) -> list[Part]:
    return ["else:", (orelse, depth + 1)] if orelse else []


def _while(writer: StatementWriter, stmt: ast.While, depth: int) -> list[Part]:
    return [f"while {writer.text(stmt.test, WALRUS)}:", (stmt.body, depth + 1), *_else(stmt.orelse, depth)]


def _for(writer: StatementWriter, stmt: ast.For | ast.AsyncFor, depth: int) -> list[Part]:
    word = "async for" if isinstance(stmt, ast.AsyncFor) else "for"
    iterable = writer.text(stmt.iter, STAR)
    head = f"{word} {writer.target(stmt.target)} in {iterable}:"
    return [head, (stmt.body, depth + 1), *_else(stmt.orelse, depth)]


def _with(writer: StatementWriter, stmt: ast.With | ast.AsyncWith, depth: int) -> list[Part]:
    word = "async with" if isinstance(stmt, ast.AsyncWith) else "with"
    items = []
    for item in stmt.items:
        text = writer.text(item.context_expr)
        if item.optional_vars is not None:
            target = writer.target(item.optional_vars)
            text += f" as ({target})" if isinstance(item.optional_vars, ast.Tuple) else f" as {target}"
        items.append(text)
    return [f"{word} {', '.join(items)}:", (stmt.body, depth + 1)]


def _try(writer: StatementWriter, stmt: ast.Try, depth: int) -> list[Part]:
    parts: list[Part] = ["try:", (stmt.body, depth + 1)]
    star = "*" if type(stmt).__name__ == "TryStar" else ""
    for handler in stmt.handlers:
        kind = f" {writer.text(handler.type)}" if handler.type is not None else ""
        name = f" as {handler.name}" if handler.name else ""
        parts += [f"except{star}{kind}{name}:", (handler.body, depth + 1)]
    parts += _else(stmt.orelse, depth)
    if stmt.finalbody:
        parts += ["finally:", (stmt.finalbody, depth + 1)]
    return parts


def _match(writer: StatementWriter, stmt: ast.Match, depth: int) -> list[Part]:
    parts: list[Part] = [f"match {writer.text(stmt.subject, TUPLE)}:"]
    for case in stmt.cases:
        guard = f" if {writer.text(case.guard)}" if case.guard is not None else ""
        parts += [f"{INDENT}case {pattern_source(writer.expressions, case.pattern)}{guard}:", (case.body, depth + 2)]
    return parts


def _function(writer: StatementWriter, stmt: ast.FunctionDef | ast.AsyncFunctionDef, depth: int) -> list[Part]:
    word = "async def" if isinstance(stmt, ast.AsyncFunctionDef) else "def"
    arguments = _flat(writer, writer.expressions.arguments(stmt.args))
    returns = f" -> {writer.text(stmt.returns)}" if stmt.returns is not None else ""
    parts: list[Part] = [f"@{writer.text(decorator)}" for decorator in stmt.decorator_list]
    return [*parts, f"{word} {stmt.name}{_type_params(writer, stmt)}({arguments}){returns}:", (stmt.body, depth + 1)]


def _flat(writer: StatementWriter, pieces: Sequence[object]) -> str:
    out = []
    for piece in pieces:
        if isinstance(piece, tuple):
            out.append(writer.text(piece[0], piece[1]))
        else:
            out.append(str(piece))
    return "".join(out)


def _class(writer: StatementWriter, stmt: ast.ClassDef, depth: int) -> list[Part]:
    arguments = [writer.text(base, STAR) for base in stmt.bases]
    for keyword in stmt.keywords:
        arguments.append(("**" if keyword.arg is None else f"{keyword.arg}=") + writer.text(keyword.value))
    name = stmt.name + _type_params(writer, stmt)
    head = f"class {name}({', '.join(arguments)}):" if arguments else f"class {name}:"
    parts: list[Part] = [f"@{writer.text(decorator)}" for decorator in stmt.decorator_list]
    return [*parts, head, (stmt.body, depth + 1)]


def _type_alias(writer: StatementWriter, stmt: TypeAliasStatement, depth: int) -> list[Part]:
    return [f"type {stmt.target.id}{_type_params(writer, stmt)} = {writer.text(stmt.value)}"]


def _type_params(writer: StatementWriter, stmt: ast.stmt) -> str:
    """Return the type parameters of a definition in brackets, or '' if there are none."""
    params = []
    for param in getattr(stmt, "type_params", ()):
        assert isinstance(param, TypeParam)
        bound = f": {writer.text(param.bound)}" if param.bound is not None else ""
        default = f" = {writer.text(param.default, STAR)}" if param.default is not None else ""
        params.append(param.stars + param.name + bound + default)
    return f"[{', '.join(params)}]" if params else ""


RULES: dict[type, Rule] = {
    ast.Expr: _expr,  # type: ignore[dict-item]
    ast.Assign: _assign,  # type: ignore[dict-item]
    ast.AugAssign: _aug_assign,  # type: ignore[dict-item]
    ast.AnnAssign: _ann_assign,  # type: ignore[dict-item]
    ast.Return: _return,  # type: ignore[dict-item]
    ast.Delete: _delete,  # type: ignore[dict-item]
    ast.Raise: _raise,  # type: ignore[dict-item]
    ast.Assert: _assert,  # type: ignore[dict-item]
    ast.Pass: _word("pass"),
    ast.Break: _word("break"),
    ast.Continue: _word("continue"),
    ast.Import: _import,  # type: ignore[dict-item]
    ast.ImportFrom: _import_from,  # type: ignore[dict-item]
    ast.Global: _global,  # type: ignore[dict-item]
    ast.Nonlocal: _global,  # type: ignore[dict-item]
    ast.If: _if,  # type: ignore[dict-item]
    ast.While: _while,  # type: ignore[dict-item]
    ast.For: _for,  # type: ignore[dict-item]
    ast.AsyncFor: _for,  # type: ignore[dict-item]
    ast.With: _with,  # type: ignore[dict-item]
    ast.AsyncWith: _with,  # type: ignore[dict-item]
    ast.Try: _try,  # type: ignore[dict-item]
    ast.Match: _match,  # type: ignore[dict-item]
    ast.FunctionDef: _function,  # type: ignore[dict-item]
    ast.AsyncFunctionDef: _function,  # type: ignore[dict-item]
    ast.ClassDef: _class,  # type: ignore[dict-item]
    TypeAliasStatement: _type_alias,  # type: ignore[dict-item]
}
"""How to write each statement: lines without indentation, and inner sequences with their indentation."""
