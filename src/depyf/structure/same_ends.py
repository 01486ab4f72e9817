"""Join what is one `return` or `raise` statement in the source.

Before: 3: f(); v1 = x; Return v1 (line 7)     5: v4 = x; Return v4 (line 7)
After:  3: f() -> 5                            5: v4 = x; Return v4 (line 7)

Where a jump leads to a short end of the code, the compiler copies that to the jump. The copies have one line.
"""

from __future__ import annotations

from depyf.lift.tac import Block, Edge, Goto, Graph, Inst, Raise, Return, exit_uses
from depyf.structure.nests import find_markers
from depyf.structure.regions.split import split_block


def join_same_ends(graph: Graph) -> None:
    """Join ends of one line that do the same, under one handler and within the same loops and handlers."""
    markers = find_markers(graph)
    found: dict[tuple[object, ...], Block] = {}
    for block in sorted(graph.live(), key=lambda block: -block.offset):
        place = _start(block)
        if place is None:
            continue
        end = split_block(graph, block, place) if place else block
        nest = tuple(temp for temp in end.stack if temp in markers)
        key = (end.handler, nest, type(end.exit), end.exit.line, _shape(end))  # type: ignore[union-attr]
        other = found.setdefault(key, end)
        if other is not end:
            end.insts, end.exit = [], Goto(Edge(other.index, []))


def _start(block: Block) -> int | None:
    """Return where the statement begins that ends a block: all of one line, with no value from before."""
    if not isinstance(block.exit, (Return, Raise)) or block.exit.line is None:
        return None
    needed = set(exit_uses(block.exit))
    start = None
    for place in range(len(block.insts) - 1, -1, -1):
        inst = block.insts[place]
        if inst.line != block.exit.line or inst.op in ("POP", "POP_EXCEPT"):
            break
        needed = (needed - set(inst.defs)) | set(inst.uses)
        if not needed:
            start = place
    return start


def _shape(block: Block) -> tuple[object, ...]:
    """Return what the operations of a block are, and how they use each other's values."""
    numbers: dict[int, int] = {}
    shape: list[object] = []
    for inst in block.insts:
        shape.append((inst.op, type(inst.arg), _key(inst), tuple(numbers.get(temp, -1) for temp in inst.uses)))
        numbers.update((temp, len(numbers)) for temp in inst.defs)
    shape.append(tuple(numbers.get(temp, -1) for temp in exit_uses(block.exit)))
    return tuple(shape)


def _key(inst: Inst) -> object:
    return repr(inst.arg) if inst.op == "CONST" else inst.arg
