"""Join the compiler's copies of code in the middle of an expression.

Code at the end of a function with several incoming jumps is copied to each of them. If a value is on the stack for the
rest of its expression, the copies must be joined, because no statement can begin there.
"""

from __future__ import annotations

from dataclasses import replace

from depyf.decompiler.graph.orders import postorder
from depyf.decompiler.graph.tac import Block, Branch, Edge, Exit, Goto, Graph, Raise, Return, same_operation
from depyf.decompiler.graph.tails import DROPS, Renaming, lead_to
from depyf.decompiler.steps import step
from depyf.decompiler.structure.regions.table import prune


def join_copies(graph: Graph, nest: dict[int, tuple[int, ...]]) -> None:
    """Join the copies of the rest of an expression, and of the code after a failed chain of comparisons.

    Args:
        nest: the nesting of each block; new blocks are added.
    """
    if any(isinstance(block.exit, Branch) and _may_join(graph, block, block.exit) for block in graph.live()):
        for index in postorder(graph):
            block = graph.block(index)
            if isinstance(block.exit, Branch):
                _join_rest(graph, nest, block.exit)
                _join_chain(graph, block, block.exit)
        prune(graph)
    if any(map(_waits_and_ends, graph.live())) and _join_ends(graph, nest):
        prune(graph)


def _may_join(graph: Graph, block: Block, branch: Branch) -> bool:
    """Return whether the targets of a test may be copies."""
    first, second = graph.block(branch.if_true.target), graph.block(branch.if_false.target)
    if type(first.exit) is type(second.exit) and first is not second and type(first.exit) in (Return, Raise, Goto):
        return True
    return type(first.exit) is Branch and bool(block.insts) and len(block.insts[-1].uses) == 2


# -- f(a if c else b) ------------------------------------------------------------------


def _join_rest(graph: Graph, nest: dict[int, tuple[int, ...]], branch: Branch) -> None:
    """Join the ends of two arms that use a value computed before the test.

    Before: v1 = f; Branch -> 2, 3      2: v2 = a; v4 = CALL v1 v2; Return v4     3: v3 = b; v5 = CALL v1 v3; Return v5
    After:  v1 = f; Branch -> 2, 3      2: v2 = a -> 4 (v2)      3: v3 = b -> 4 (v3)     4: v4 = CALL v1 phi; Return v4
    """
    first, second = graph.block(branch.if_true.target), graph.block(branch.if_false.target)
    if first.handler != second.handler or first.phis or second.phis or type(first.exit) is not type(second.exit):
        return
    if not (isinstance(first.exit, (Return, Raise)) or _meet(first, second)) or nest[first.index] != nest[second.index]:
        return
    needed = max(_first_waiting(first, second), _first_waiting(second, first))
    for length in range(max(needed, 1), _common(first, second) + 1) if needed else ():
        pair = _single_difference(first, second, length)
        if pair is not None and not _is_text(first, pair[0], length):
            shared = _share(graph, first, second, length, pair)
            nest[shared.index] = nest[first.index]
            return


def _is_text(block: Block, value: int, length: int) -> bool:
    """Return whether the end of a block formats a value as text; in an f-string only a field is formatted."""
    rest, end = block.insts[: len(block.insts) - length], block.insts[len(block.insts) - length :]
    taken = any(inst.op == "BUILD_STRING" and value in inst.uses for inst in end)
    is_spec = any(inst.op == "FORMAT" and inst.uses[1:] == [value] for inst in end)
    return taken or is_spec or any(inst.op == "CONVERT" and inst.defs == [value] for inst in rest)


def _meet(left: Block, right: Block) -> bool:
    """Return whether two blocks lead to the same place without values."""
    return left.exit == right.exit and isinstance(left.exit, Goto) and not left.exit.edge.args


def _first_waiting(left: Block, right: Block) -> int:
    """Return the distance from the end at which a block first uses a value from before both blocks; 0 if never."""
    waiting = set(left.stack) & set(right.stack) & _used(right) & _used(left)
    for place, inst in enumerate(left.insts):
        if not waiting.isdisjoint(inst.uses):
            return len(left.insts) - place
    return 0


def _used(block: Block) -> set[int]:
    return {temp for inst in block.insts if inst.op not in DROPS for temp in inst.uses}


def _common(left: Block, right: Block) -> int:
    """Return how many operations at the ends of two blocks are the same except for their operands."""
    length = 0
    for first, second in zip(reversed(left.insts), reversed(right.insts)):
        if not same_operation(first, second):
            break
        length += 1
    return length


def _single_difference(first_block: Block, second_block: Block, length: int) -> tuple[int, int] | None:
    """Return the two values in which the ends of two blocks differ, if there are only two."""
    renamed: dict[int, int] = {}
    pairs: set[tuple[int, int]] = set()
    defined: set[int] = set()
    first, second = (block.insts[len(block.insts) - length :] for block in (first_block, second_block))
    uses = [(left.uses, right.uses, left.defs, right.defs) for left, right in zip(first, second)]
    uses.append((first_block.exit.reads(), second_block.exit.reads(), [], []))
    for left_uses, right_uses, left_defs, right_defs in uses:
        if len(left_uses) != len(right_uses):
            return None
        for left, right in zip(left_uses, right_uses):
            if left in renamed or right in defined:
                if renamed.get(left) != right:
                    return None
            elif left != right:
                pairs.add((left, right))
        renamed.update(zip(left_defs, right_defs))
        defined.update(right_defs)
    return pairs.pop() if len(pairs) == 1 else None


def _share(graph: Graph, first_block: Block, second_block: Block, length: int, pair: tuple[int, int]) -> Block:
    """Move the end of a block to a new one, to which both lead with the value that differs; return the new one."""
    left, right = pair
    step("blocks {} and {} share their last {} operations", first_block.index, second_block.index, length)
    phi = graph.new_temp()
    insts = [
        replace(inst, uses=[phi if temp == left else temp for temp in inst.uses])
        for inst in first_block.insts[len(first_block.insts) - length :]
    ]
    shared = graph.new_block(insts, _with(first_block.exit, left, phi), first_block.handler, [*first_block.stack, phi])
    shared.phis = [phi]
    for block, value in ((first_block, left), (second_block, right)):
        lead_to(block, len(block.insts) - length, shared, [value])
    return shared


def _with(exit_: Exit, old: int, new: int) -> Exit:
    if isinstance(exit_, Goto):
        return exit_
    if isinstance(exit_, Return):
        return Return(new if exit_.value == old else exit_.value, exit_.line, None, exit_.offset)
    assert isinstance(exit_, Raise)
    return Raise([new if temp == old else temp for temp in exit_.operands], exit_.line, None, exit_.offset)


# -- f(a or b if c else d) -------------------------------------------------------------


def _join_ends(graph: Graph, nest: dict[int, tuple[int, ...]]) -> bool:
    """Redirect blocks with the same end as a block with phis to that block, if they use a value from before the tests.

    Return whether there was any.

    Before: 2: v2 = a -> 3 (v2), 4;  4: v3 = b -> 3 (v3);  3 (v4): CALL v1 v4; Return;  5: v5 = d; CALL v1 v5; Return
    After:  the same, and 5: v5 = d -> 3 (v5)
    """
    ends: dict[tuple[object, ...], Block] = {}
    for block in graph.live():
        if _waits_and_ends(block):
            ends.setdefault(_signature(block, len(block.insts), nest), block)
    is_changed = False
    lengths = sorted({len(block.insts) for block in ends.values()})
    for block in graph.live() if ends else ():
        for length in lengths:
            shared = ends.get(_signature(block, length, nest))
            if shared is not None and _join_end(graph, block, shared, length):
                is_changed = True
                break
    return is_changed


def _join_end(graph: Graph, block: Block, shared: Block, length: int) -> bool:
    """Replace the end of a block by another one, if they differ only in the other's phi."""
    if not _first_waiting(shared, block) or _common(shared, block) < length:
        return False
    pair = _single_difference(shared, block, length)
    if pair is None or pair[0] != shared.phis[0]:
        return False
    step("block {} ends like block {}", block.index, shared.index)
    lead_to(block, len(block.insts) - length, shared, [pair[1]])
    _lead_past(graph, block)
    return True


def _waits_and_ends(block: Block) -> bool:
    """Return whether a block with one phi leaves an expression."""
    return len(block.phis) == 1 and _ends(block)


def _ends(block: Block) -> bool:
    return isinstance(block.exit, (Return, Raise)) or (isinstance(block.exit, Goto) and not block.exit.edge.args)


def _signature(block: Block, length: int, nest: dict[int, tuple[int, ...]]) -> tuple[object, ...]:
    """Return the key that the ends of two blocks must share to be joined."""
    target = block.exit.edge.target if isinstance(block.exit, Goto) else -1
    ops = tuple([inst.op for inst in block.insts[len(block.insts) - length :]])
    return type(block.exit), target, block.handler, nest[block.index], ops


def _lead_past(graph: Graph, between: Block) -> None:
    """Redirect edges past a block that only passes its value on."""
    assert isinstance(between.exit, Goto)
    if between.insts or between.exit.edge.args != between.phis:
        return
    for block in graph.live():
        for edge in block.exit.edges():
            if edge.target == between.index:
                edge.target = between.exit.edge.target


# -- a < b < c -------------------------------------------------------------------------


def _popped_first(block: Block, edge: Edge) -> int | None:
    """Return the value that a block drops first, as named at the start of an edge to the block."""
    if not block.insts or block.insts[0].op != "POP":
        return None
    popped = block.insts[0].uses[0]
    return dict(zip(block.phis, edge.args)).get(popped, popped)


def _compares(block: Block, branch: Branch, value: int) -> bool:
    """Return whether a block tests the result of an operation on a value and others."""
    return any(inst.uses[:1] == [value] and inst.defs == [branch.cond] for inst in block.insts)


def _join_chain(graph: Graph, block: Block, branch: Branch) -> None:
    """Let the failure of the first of two chained comparisons lead to where the second's failure leads.

    Before: v3 = v1 < v2; Branch v3 -> 2, 3    2: v5 = v2 < v4; Branch v5 -> 6, 7    3: POP v2; rest     7: rest
    After:  v3 = v1 < v2; Branch v3 -> 2, 7    2: v5 = v2 < v4; Branch v5 -> 6, 7                        7: rest
    """
    last = block.insts[-1] if block.insts else None
    if last is None or last.defs != [branch.cond] or len(last.uses) != 2:
        return
    again, failed = graph.block(branch.if_true.target), graph.block(branch.if_false.target)
    middle = last.uses[1]
    if not isinstance(again.exit, Branch) or not _compares(again, again.exit, middle):
        return
    other = graph.block(again.exit.if_false.target)
    popped = _popped_first(failed, branch.if_false)
    if popped is None:
        # The edge was redirected past the drop of the value: earlier tests may lead to the same place.
        if middle in again.stack and not branch.if_false.args and _same(failed, other, 0):
            again.exit.if_false = Edge(failed.index, [])
    elif popped == middle and _same(failed, other, 1):
        branch.if_false = Edge(other.index, [])


def _same(failed: Block, other: Block, skipped: int) -> bool:
    """Return whether two blocks do the same after the first operations."""
    rest = Block(failed.index, failed.insts[skipped:], failed.exit, failed.handler)
    if rest.handler != other.handler or other.phis:
        return False
    is_end = isinstance(rest.exit, (Return, Raise)) and type(rest.exit) is type(other.exit)
    if not (is_end or _meet(rest, other)):
        return False
    copies = Renaming()
    same = copies.same_operations(rest.insts, other.insts)
    return same and copies.correspond(rest.exit.reads(), other.exit.reads())
