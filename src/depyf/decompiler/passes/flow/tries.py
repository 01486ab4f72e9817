"""`try`: split a handler's code into clauses.

Before: TryStmt handler: if <exc is E>: name = exc; A  else: if <exc is F>: B else: reraise
After:  except E as name: A
        except F: B
"""

from __future__ import annotations

import ast
import sys

from depyf.decompiler.lift.nodes import ExcMatch, Object, Temp, TryStar
from depyf.decompiler.passes.conditions import structures
from depyf.decompiler.passes.groups import HANDLERS
from depyf.decompiler.passes.registry import Stage, registers
from depyf.decompiler.passes.walk import holds, of_kinds, rewrite_sequences
from depyf.decompiler.steps import step
from depyf.decompiler.structure.labels import TryStmt
from depyf.decompiler.structure.tree import ReraiseStmt

TEMPS = frozenset({Temp})


@registers(
    "tries",
    Stage.STATEMENTS,
    "split the code of handlers into clauses",
    takes=("stmts",),
    applies=structures,
    needs=HANDLERS,
    before={"heads": "the clauses of a handler contain loops and managers"},
)
def restore_tries(body: list[ast.stmt]) -> list[ast.stmt]:
    """Replace every `TryStmt` by an `ast.Try`."""
    if not holds(body, TryStmt):
        return body
    tries: dict[int, ast.Try] = {}

    def part(stmts: list[ast.stmt]) -> list[ast.stmt]:
        out = []
        for stmt in stmts:
            if isinstance(stmt, TryStmt):
                step("the handler of v{} becomes the clauses of `try`", stmt.exc)
                exc, stmt = stmt.exc, _try(stmt)
                assert isinstance(stmt, ast.Try)
                tries[exc] = stmt
            out.append(stmt)
        return out

    body = rewrite_sequences(body, part)
    _keep_exceptions(body, tries)
    return body


def _keep_exceptions(body: list[ast.stmt], tries: dict[int, ast.Try]) -> None:
    """Assign an exception to its temporary where it is caught, if statements use it as a value."""
    named = {node.temp for node in of_kinds(body, TEMPS)}
    for exc in tries.keys() & named:
        step("v{} is used as a value: keep it where it is caught", exc)
        for clause in tries[exc].handlers:
            call = ast.Call(func=Object(value=sys.exc_info), args=[], keywords=[])
            value = ast.Subscript(value=call, slice=ast.Constant(value=1), ctx=ast.Load())
            clause.body.insert(0, ast.Assign(targets=[Temp(temp=exc)], value=value, lineno=0))


def _try(stmt: TryStmt) -> ast.stmt:
    if stmt.is_finally:
        final = _without_ends(stmt.handler)
        return _joined(ast.Try(body=stmt.body, handlers=[], orelse=[], finalbody=final or [ast.Pass()], lineno=0))
    handlers: list[ast.ExceptHandler] = []
    rest = stmt.handler
    while True:
        clause, rest_or_none = _clause(rest, stmt.exc)
        if clause is None:
            break
        handlers.append(clause)
        if rest_or_none is None:
            kind = TryStar if _is_star(stmt.handler) else ast.Try
            return kind(body=stmt.body, handlers=handlers, orelse=stmt.orelse, finalbody=[], lineno=0)
        rest = rest_or_none
    handlers.append(_bare(rest, stmt.exc))
    return ast.Try(body=stmt.body, handlers=handlers, orelse=stmt.orelse, finalbody=[], lineno=0)


def _without_ends(final: list[ast.stmt]) -> list[ast.stmt]:
    """Return the body of `finally` without the re-raises at its ends, which the statement implies."""
    work = [final]
    while work:
        last = work[-1][-1] if work[-1] else None
        stmts = work.pop()
        if isinstance(last, ReraiseStmt):
            stmts.pop()
        elif isinstance(last, ast.If):
            work += [last.body, last.orelse]
            if len(last.body) == 1 and isinstance(last.body[0], ReraiseStmt):
                last.body[:] = [ast.Pass()]
    return final


def _is_star(handler: list[ast.stmt]) -> bool:
    """Return whether a handler begins with the test of an `except*` clause."""
    first = handler[0] if handler else None
    test = first.test if isinstance(first, ast.If) else None
    test = test.operand if isinstance(test, ast.UnaryOp) else test
    return isinstance(test, ExcMatch) and test.star


def _joined(stmt: ast.Try) -> ast.stmt:
    """Return a `try` as one statement: `try: try: A except E: B finally: C`."""
    if len(stmt.body) == 1:
        inner = stmt.body[0]
        if isinstance(inner, ast.Try) and inner.handlers and not inner.finalbody:
            inner.finalbody = stmt.finalbody
            return inner
    return stmt


def _clause(code: list[ast.stmt], exc: int) -> tuple[ast.ExceptHandler | None, list[ast.stmt] | None]:
    """Return the first clause of handler code, and the code after it (None: nothing is left)."""
    if not code or not isinstance(code[0], ast.If):
        return None, None
    test = code[0]
    matched, other = test.body, [*test.orelse, *code[1:]]
    condition = test.test
    if isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not):
        condition = condition.operand
        matched, other = [*test.orelse, *code[1:]], test.body
    if not isinstance(condition, ExcMatch):
        return None, None
    if code[1:] and other is not test.body and not _ends(matched):
        return None, None
    name, rest = _named(matched, exc)
    clause = ast.ExceptHandler(type=condition.type, name=name, body=rest or [ast.Pass()])
    if len(other) == 1 and isinstance(other[0], ReraiseStmt):
        return clause, None
    return clause, other


def _ends(code: list[ast.stmt]) -> bool:
    return bool(code) and isinstance(code[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break, ReraiseStmt))


def _bare(code: list[ast.stmt], exc: int) -> ast.ExceptHandler:
    return ast.ExceptHandler(type=None, name=None, body=code or [ast.Pass()])


def _named(code: list[ast.stmt], exc: int) -> tuple[str | None, list[ast.stmt]]:
    first = code[0] if code else None
    if isinstance(first, ast.Assign) and isinstance(first.value, Temp) and first.value.temp == exc:
        (target,) = first.targets
        if isinstance(target, ast.Name):
            return target.id, code[1:]
    return None, code
