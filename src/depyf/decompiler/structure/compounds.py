"""Operations that exist only after expressions of several blocks were joined, and the folding of all operations.

Before: v3 = EXPR (a and b) v1; MOVE v4 v3; v5 v6 = ENTER_WITH v4
After:  v6 entered by `with a and b`
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable
from collections.abc import Set as AbstractSet

from depyf.bytecode.known_groups import GATHER, SPLIT
from depyf.bytecode.records import dataclass
from depyf.decompiler.graph.tac import Inst
from depyf.decompiler.lift.fold import Folder
from depyf.decompiler.lift.nodes import Object, Temp
from depyf.decompiler.lift.rules import FOLD
from depyf.decompiler.structure.tree import Enter


@dataclass(slots=True, eq=False)
class Compound:
    """An expression folded from several blocks; `make` builds it from the operands of its EXPR operation.

    direct: the number of its own operands; the others are temporaries that its inner parts name.
    content: a key for the expression; None if unknown. Two expressions with one key are the same.
    """

    make: Callable[[list[ast.expr]], ast.expr]
    effect: int
    reads: frozenset[str]
    writes: AbstractSet[str]
    is_match: bool = False
    direct: int = 1
    content: Hashable = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Compound) and (
            self is other or (self.content is not None and self.content == other.content)
        )

    def __hash__(self) -> int:
        return id(self) if self.content is None else hash(self.content)


def fold_compound(folder: Folder, inst: Inst) -> None:
    """EXPR: the first operands are its own, the others are temporaries that its inner parts name."""
    compound = inst.arg
    assert isinstance(compound, Compound)
    for place, temp in enumerate(inst.uses):
        entry = folder.by_temp.get(temp)
        if entry is None:
            continue
        if place >= compound.direct or not all(isinstance(target, ast.Name) for target in entry.targets):
            folder.spill_through(entry)
    taken = folder.take(inst.uses)
    effect = max(compound.effect, taken.effect)
    folder.push(inst, compound.make(taken.exprs), effect, compound.reads | taken.reads, compound.writes | taken.writes)


def _fold_move(folder: Folder, inst: Inst) -> None:
    """MOVE: assign a value to a phi."""
    folder.combine(inst, lambda parts: parts[0], effect=0)


def _enter_with(folder: Folder, inst: Inst) -> None:
    """ENTER_WITH, ENTER_ASYNC_WITH: a separate statement, the head of the `with`."""
    (manager,) = folder.take(inst.uses).exprs
    stmt = Enter(manager=manager, exit=inst.defs[0], value=inst.defs[1], is_async=inst.op != "ENTER_WITH")
    folder.emit(stmt, inst.line)


def _split_group(folder: Folder, inst: Inst) -> None:
    """SPLIT: a separate statement with two results."""
    call = ast.Call(func=Object(value=SPLIT), args=folder.take(inst.uses).exprs, keywords=[])
    names = ast.Tuple(elts=[Temp(temp=temp) for temp in inst.defs], ctx=ast.Store())
    folder.emit(ast.Assign(targets=[names], value=call, lineno=0), inst.line)


def _gather_group(folder: Folder, inst: Inst) -> None:
    """GATHER: a call."""
    folder.combine(inst, lambda parts: ast.Call(func=Object(value=GATHER), args=parts, keywords=[]))


RULES = {
    **FOLD,
    "SPLIT": _split_group,
    "GATHER": _gather_group,
    "EXPR": fold_compound,
    "MOVE": _fold_move,
    "ENTER_WITH": _enter_with,
    "ENTER_ASYNC_WITH": _enter_with,
}
