"""Write a value where it is used, if the use is the next thing that happens.

Before: v1 = f(a)              After: v2 = [f(a)]
        v2 = [v1]

Only for temporaries with one use. No value is moved past anything observable, so the order does not change. A read of a
bound local variable is not observable: only `:=` in the moved value could change it.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Set

from depyf.bytecode.listing import Listing
from depyf.decompiler.lift.nodes import Object, Temp, Var
from depyf.decompiler.passes.conditions import simplifies
from depyf.decompiler.passes.groups import STATED
from depyf.decompiler.passes.registry import Stage, registers
from depyf.decompiler.passes.walk import of_kinds, rewrite_sequences, statements
from depyf.decompiler.steps import step

UNBINDING = ("DELETE_FAST", "LOAD_FAST_CLEAR")
TEMPS: frozenset[type] = frozenset({Temp})
BINDINGS: frozenset[type] = frozenset({ast.NamedExpr})
SILENT = (ast.Constant, ast.List, ast.Tuple, Object, Temp)
"""Expressions whose evaluation is not observable."""
IN_ORDER = (
    ast.Call,
    ast.Attribute,
    ast.Subscript,
    ast.BinOp,
    ast.UnaryOp,
    ast.Compare,
    ast.List,
    ast.Tuple,
    ast.keyword,
)
"""Nodes that evaluate their operands in the order of their fields."""


@registers(
    "at-once",
    Stage.STATEMENTS,
    "move values into the next statement",
    takes=("stmts", "listing"),
    optional=True,
    applies=simplifies,
    unless=STATED,
    after={"expressions": "the uses of values are known only in finished expressions"},
)
def use_bound_at_once(body: list[ast.stmt], listing: Listing) -> list[ast.stmt]:
    """Move each value that a temporary only carries to the next statement into that statement."""
    unbound = {item.arg for item in listing.instructions if item.op in UNBINDING}
    return use_at_once(body, frozenset(listing.code.parameters) - unbound)


def use_at_once(body: list[ast.stmt], bound: Set[str]) -> list[ast.stmt]:
    """Move each value that a temporary only carries to the next statement into that statement.

    Args:
        bound: the local variables that have a value wherever they are read.
    """
    if not any(_carried(stmt) is not None for stmt in statements(body)):
        return body
    uses = Counter([node.temp for node in of_kinds(body, TEMPS)])

    def joined(stmts: list[ast.stmt]) -> list[ast.stmt]:
        place = len(stmts) - 1
        while place > 0:
            place -= 1
            temp = _carried(stmts[place])
            # Two places in all: the assignment, and the use.
            if temp is None or uses[temp] != 2:
                continue
            slot = _first_use(temp, stmts[place + 1], bound - _written(stmts[place]))
            if slot is not None:
                _put(slot, stmts, place)
        return stmts

    return rewrite_sequences(body, joined)


def _carried(stmt: ast.stmt) -> int | None:
    """Return the temporary that a statement assigns, if it does nothing else."""
    if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 and isinstance(stmt.targets[0], Temp):
        return stmt.targets[0].temp
    return None


def _put(slot: tuple[ast.AST, str, int], stmts: list[ast.stmt], place: int) -> None:
    owner, name, number = slot
    stmt = stmts[place]
    assert isinstance(stmt, ast.Assign)
    step("line {}: a value is written where the next statement uses it", stmt.lineno)
    held = getattr(owner, name)
    if isinstance(held, list):
        held[number] = stmt.value
    else:
        setattr(owner, name, stmt.value)
    del stmts[place]


def _written(stmt: ast.stmt) -> set[str]:
    """Return the variables that the expressions of a statement bind."""
    return {node.target.id for node in of_kinds([stmt], BINDINGS) if isinstance(node.target, ast.Name)}


def _first_use(temp: int, stmt: ast.stmt, bound: Set[str]) -> tuple[ast.AST, str, int] | None:
    """Return where a statement uses a temporary, if it does so before any observable operation.

    Args:
        bound: the variables whose reads are not observable.
    """
    field = "test" if isinstance(stmt, ast.If) else "value"
    if not isinstance(stmt, (ast.Assign, ast.Expr, ast.Return, ast.If)) or getattr(stmt, field) is None:
        return None
    work: list[tuple[ast.AST, str, int]] = [(stmt, field, 0)]
    done: list[ast.AST] = []
    while work:
        owner, name, number = work.pop()
        held = getattr(owner, name)
        node = held[number] if isinstance(held, list) else held
        if isinstance(node, Temp) and node.temp == temp:
            return owner, name, number
        if any(node is visited for visited in done) or not isinstance(node, IN_ORDER):
            if not (isinstance(node, SILENT) or _is_bound(node, bound)):
                return None
            continue
        done.append(node)
        work.append((owner, name, number))
        work.extend(reversed(list(_operands(node))))
    return None


def _is_bound(node: ast.AST, bound: Set[str]) -> bool:
    return isinstance(node, Var) and node.scope == "fast" and node.id in bound


def _operands(node: ast.AST) -> Iterator[tuple[ast.AST, str, int]]:
    """Yield the places of a node's operands, in the order of their evaluation."""
    for name in node._fields:
        held = getattr(node, name, None)
        if isinstance(held, list):
            yield from ((node, name, number) for number, item in enumerate(held) if _is_operand(item))
        elif _is_operand(held):
            yield node, name, 0


def _is_operand(value: object) -> bool:
    return isinstance(value, (ast.expr, ast.keyword))
