"""Heads of `for` and `with`: move the iterable, the manager and the target to their places.

Before: t1 = <iterator of x>; ForStmt t1: a, b = t2; ...      Enter m -> t3 t4; WithStmt: c = t4; ...
After:  for a, b in x: ...                                   with m as c: ...
"""

from __future__ import annotations

import ast
from collections import Counter

from depyf.bytecode.listing import Listing
from depyf.decompiler.graph.tac import NULL, Graph
from depyf.decompiler.lift.nodes import AsyncIter, GetAwaitable, GetIter, Ref, Temp, literal
from depyf.decompiler.lift.references import referred
from depyf.decompiler.passes.conditions import structures
from depyf.decompiler.passes.flow.loop_tails import take_tail
from depyf.decompiler.passes.groups import HANDLERS, LOOPS
from depyf.decompiler.passes.registry import Stage, registers
from depyf.decompiler.passes.walk import holds, of_kinds, rewrite_sequences
from depyf.decompiler.steps import step
from depyf.decompiler.structure.labels import ForStmt, WithStmt
from depyf.decompiler.structure.tree import Enter


@registers(
    "heads",
    Stage.STATEMENTS,
    "move iterables, managers and targets to their `for` and `with`",
    takes=("stmts", "graph", "listing"),
    applies=structures,
    needs=LOOPS | HANDLERS,
    before={"complete": "heads replace most of the pipeline's own nodes"},
)
def restore_heads_of(body: list[ast.stmt], graph: Graph, listing: Listing) -> list[ast.stmt]:
    """Return the statements of one code object with the heads of loops and `with`.

    Args:
        body: the statements.
        graph: the graph that they come from. A list that a loop iterates over stays a list if the graph `is_kept`.
        listing: the instructions of the code object.
    """
    return restore_heads(body, keeps_lists=keeps_lists(graph, listing))


def keeps_lists(graph: Graph, listing: Listing) -> bool:
    """Return whether a list that a loop iterates over must not be compiled to a tuple."""
    return graph.is_kept and listing.iterates_tuples


def restore_heads(body: list[ast.stmt], *, keeps_lists: bool) -> list[ast.stmt]:
    """Replace `ForStmt` by `ast.For`, and `Enter` with `WithStmt` by `ast.With`.

    Args:
        keeps_lists: a list that a loop iterates over must not be compiled to a tuple.
    """
    if not holds(body, ForStmt, WithStmt):
        return body
    named = Counter(_temp(node) for node in of_kinds(body, TEMPS))
    return rewrite_sequences(body, lambda stmts: _sequence(stmts, named, keeps_lists))


TEMPS = frozenset({Ref, Temp})


def _temp(node: ast.AST) -> int:
    if isinstance(node, Ref):
        return node.entry.temp
    return node.temp if isinstance(node, Temp) else NULL


def _sequence(stmts: list[ast.stmt], named: Counter[int], keeps_lists: bool) -> list[ast.stmt]:
    out: list[ast.stmt] = []
    for stmt in stmts:
        if isinstance(stmt, ForStmt):
            step("line {}: a loop gets its iterable and its target", stmt.lineno)
            out.append(_for(stmt, _iterable(stmt, out, named, keeps_lists)))
        elif isinstance(stmt, WithStmt):
            enter = _entered(out, stmt)
            if enter is not None:
                step("line {}: a `with` gets its manager and its target", enter.lineno)
            out.append(_with(enter, stmt) if enter is not None else stmt)
        else:
            out.append(stmt)
    return out


def _entered(before: list[ast.stmt], stmt: WithStmt) -> Enter | None:
    """Remove the statement that enters the manager from the end of `before`; its value may be awaited first."""
    if before and isinstance(before[-1], Enter) and before[-1].exit == stmt.exit:
        enter = before.pop()
        assert isinstance(enter, Enter)
        return enter
    if len(before) < 2 or not isinstance(before[-2], Enter) or before[-2].exit != stmt.exit:
        return None
    enter, awaited = before[-2], before[-1]
    value = awaited.value if isinstance(awaited, (ast.Assign, ast.Expr)) else None
    if not isinstance(value, ast.Await) or not _is_temp(_awaited(value), Temp(temp=enter.value)):
        return None
    if isinstance(awaited, ast.Assign):
        (target,) = awaited.targets
        if not isinstance(target, Temp):
            return None
        enter.value = target.temp
    del before[-2:]
    return enter


def _awaited(value: ast.Await) -> ast.expr:
    """Return the awaited expression, without the error messages of `async with`."""
    return value.value.value if isinstance(value.value, GetAwaitable) else value.value


def _iterable(stmt: ForStmt, before: list[ast.stmt], named: Counter[int], keeps_lists: bool) -> ast.expr:
    """Remove the iterable from the assignment just before; an iterator from elsewhere is used as it is.

    So is an iterator with other uses, because code after the loop may continue with it.
    """
    if before:
        before.extend(take_tail(before[-1], stmt.iterator))
    last = before[-1] if before else None
    if named[_temp(stmt.iterator)] > 2:
        return stmt.iterator
    if isinstance(last, ast.Assign) and len(last.targets) == 1 and _is_temp(last.targets[0], stmt.iterator):
        before.pop()
        value = last.value
        if keeps_lists and isinstance(value, GetIter):
            return _kept_list(value.value)
        return value.value if isinstance(value, (GetIter, AsyncIter)) else value
    return stmt.iterator


def _kept_list(iterable: ast.expr) -> ast.expr:
    """Return the iterable; a new list becomes an operand, because the compiler turns a plain display into a tuple."""
    expression = referred(iterable)
    if not isinstance(expression, ast.List) or any(isinstance(item, ast.Starred) for item in expression.elts):
        return iterable
    step("a list that a loop iterates over becomes an operand")
    return ast.BoolOp(op=ast.And(), values=[literal(True), iterable])


def _is_temp(expr: ast.expr, other: ast.expr) -> bool:
    return isinstance(expr, Temp) and isinstance(other, Temp) and expr.temp == other.temp


def _target(body: list[ast.stmt], value: ast.expr | int) -> tuple[ast.expr | None, list[ast.stmt]]:
    """Return the target to which a body first stores a temporary, and the rest of the body."""
    temp = value.temp if isinstance(value, Temp) else value
    first = body[0] if body else None
    if isinstance(first, ast.Assign) and isinstance(first.value, Temp) and first.value.temp == temp:
        if len(first.targets) == 1:
            return first.targets[0], body[1:]
    return None, body


def _for(stmt: ForStmt, iterable: ast.expr) -> ast.stmt:
    target, body = _target(stmt.body, stmt.value)
    kind = ast.AsyncFor if stmt.is_async else ast.For
    return kind(
        target=target if target is not None else stmt.value,
        iter=iterable,
        body=body or [ast.Pass()],
        orelse=stmt.orelse,
        lineno=stmt.lineno,
    )


def _with(enter: Enter, stmt: WithStmt) -> ast.stmt:
    target, body = _target(stmt.body, enter.value)
    item = ast.withitem(context_expr=enter.manager, optional_vars=target)
    kind = ast.AsyncWith if enter.is_async else ast.With
    inner = body[0] if len(body) == 1 else None
    if type(inner) is kind:
        inner.items.insert(0, item)
        return inner
    return kind(items=[item], body=body or [ast.Pass()], lineno=enter.lineno)
