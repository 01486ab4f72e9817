"""Collapse short circuits and conditional expressions on the graph.

Before: block 1: v1 = LOAD_FAST a; Branch v1 -> 2, 3     block 2: v2 = LOAD_FAST b; Branch v2 -> 4, 3
After:  block 1: v3 = EXPR (a and b); Branch v3 -> 4, 3

The blocks are visited in post-order, so that inner expressions are collapsed before outer ones. A block
may become part of an expression if it has one predecessor, lies in the same scope, and folds to one
expression without statements. An edge *carries* the tested value if a phi of its target receives it:
that is how `a or b` keeps the value of a.
"""

from __future__ import annotations

import ast
from collections import deque
from typing import cast

from depyf.decompiler.graph.orders import postorder
from depyf.decompiler.graph.tac import Block, Branch, Edge, Exit, Goto, Graph, Inst, Return
from depyf.decompiler.graph.uses import count_uses
from depyf.decompiler.lift.fold import Folder
from depyf.decompiler.lift.guarded import note_test
from depyf.decompiler.lift.nodes import IMPURE, Temp
from depyf.decompiler.lift.rules import FOLD
from depyf.decompiler.steps import step
from depyf.decompiler.structure.arms import (
    Arm,
    carried,
    computes,
    externals,
    folded,
    last_line,
    negates_second,
    same_edge,
    same_ways,
    turned_round,
)
from depyf.decompiler.structure.chains import link, turned, with_link
from depyf.decompiler.structure.compounds import RULES, Compound
from depyf.decompiler.structure.patterns.tested import Conditions
from depyf.decompiler.structure.polarity import keeps_polarity, negated

LINKS = frozenset({"COMPARE", "IS", "CONTAINS"})
"""Operations that may begin a chain of comparisons."""


def collapse(graph: Graph, scope: dict[int, int], is_expression: bool) -> dict[int, int]:
    """Collapse tests and their arms into expressions as far as possible.

    Args:
        graph: the graph, changed in place.
        scope: the innermost scope of each block; only blocks of one scope are joined.
        is_expression: whether the code is a lambda's, so that its `return`s are arms of one expression.

    Returns:
        by temporary, how often the graph reads it now.
    """
    collapser = _Collapser(graph, scope, is_expression)
    for index in postorder(graph):
        if graph.blocks[index] is not None:
            while collapser.step(graph.block(index)):
                pass
        collapser.done.add(index)
    for index in list(collapser.long):
        collapser.settle(graph.block(index))
    return collapser.uses


class _Collapser:
    def __init__(self, graph: Graph, scope: dict[int, int], is_expression: bool) -> None:
        self.graph = graph
        self.scope = scope
        self.is_expression = is_expression
        self.uses = count_uses(graph)
        self.preds: dict[int, int] = {0: 1}
        for block in graph.live():
            for edge in block.exit.edges():
                self.preds[edge.target] = self.preds.get(edge.target, 0) + 1
        for handler in graph.handlers:
            self.preds[handler.target] = self.preds.get(handler.target, 0) + 2
        if graph.end >= 0:
            self.preds[graph.end] = self.preds.get(graph.end, 0) + 2
        self.no_arm: set[int] = set()
        self.done: set[int] = set()
        self.conditions = Conditions(graph)
        # The operations of blocks that absorbed longer ones, stored so that prepending is cheap.
        self.long: dict[int, deque[Inst]] = {}

    def step(self, block: Block) -> bool:
        """Try one rewrite at a block; return whether there was one."""
        match block.exit:
            case Goto(edge):
                return self._join(block, edge)
            case Branch(cond, if_true, if_false):
                return self._branch(block, cond, if_true, if_false)
        return False

    # -- straight lines ------------------------------------------------------------

    def _join(self, block: Block, edge: Edge) -> bool:
        """Append a block's only successor if the block is its only predecessor."""
        if self.preds[edge.target] != 1 or self.scope[edge.target] != self.scope[block.index]:
            return False
        target = self.graph.block(edge.target)
        step("block {} absorbs block {}, its only successor", block.index, target.index)
        for phi, arg in zip(target.phis, edge.args):
            if phi == arg:
                self.uses[arg] -= 1
            else:
                block.insts.append(Inst("MOVE", None, [arg], [phi], None, -1))
        if len(target.insts) > len(block.insts):
            # The successor has absorbed all blocks after it: it is not copied again for each block.
            behind = self.long.pop(target.index, None) or deque(target.insts)
            behind.extendleft(reversed(block.insts))
            block.insts = cast("list[Inst]", behind)
            self.long[block.index] = behind
        else:
            block.insts.extend(target.insts)
        block.exit = target.exit
        self._remove(target)
        self.no_arm.discard(block.index)
        return True

    def settle(self, block: Block) -> None:
        """Convert the operations of a block that has absorbed a long one back to a list."""
        if (behind := self.long.pop(block.index, None)) is not None:
            block.insts = list(behind)

    def _remove(self, block: Block) -> None:
        self.long.pop(block.index, None)
        self.graph.blocks[block.index] = None
        self.preds[block.index] = 0

    def _drop_edge(self, edge: Edge) -> None:
        self.preds[edge.target] -= 1
        for temp in edge.args:
            self.uses[temp] -= 1

    # -- arms -----------------------------------------------------------------------

    def _may_be_arm(self, exit_: Exit, cond: int, other: Edge) -> bool:
        """Return whether a block with this exit may be joined with a test that leads to it, or else along `other`."""
        kind = type(exit_)
        if kind is Goto:
            return bool(exit_.edge.args)  # type: ignore[union-attr]
        if kind is Return:
            return self.is_expression or self._returns(other, cond)
        return kind is Branch

    def _returns(self, edge: Edge, value: int) -> bool:
        """Return whether the target of an edge returns this value."""
        target = self.graph.block(edge.target)
        if not isinstance(target.exit, Return):
            return False
        return dict(zip(target.phis, edge.args)).get(target.exit.value, target.exit.value) == value

    def _arm(self, index: int, block: Block, cond: int, other: Edge) -> Arm | None:
        """Fold a block to an expression, if it is nothing else and only `block` leads to it."""
        if self.preds[index] != 1 or self.scope[index] != self.scope[block.index] or index in self.no_arm:
            return None
        arm = self.graph.block(index)
        if arm.phis or arm.handler != block.handler or not self._may_be_arm(arm.exit, cond, other):
            return None
        self.settle(arm)
        folded_arm = folded(self.graph, self.uses, arm)
        if folded_arm is None:
            self.no_arm.add(index)
        return folded_arm

    def _branch(self, block: Block, cond: int, if_true: Edge, if_false: Edge) -> bool:
        true_arm = self._arm(if_true.target, block, cond, if_false)
        false_arm = self._arm(if_false.target, block, cond, if_true)
        if true_arm and self._combine(block, cond, true_arm, if_false, arm_when=True):
            return True
        if false_arm and self._combine(block, cond, false_arm, if_true, arm_when=False):
            return True
        return bool(true_arm and false_arm and self._conditional(block, cond, true_arm, false_arm))

    # -- and, or ---------------------------------------------------------------------

    def _combine(self, block: Block, cond: int, arm: Arm, other: Edge, arm_when: bool) -> bool:
        """Join a test with a test, or with a value, that follows on one side of it."""
        if self.conditions.is_deep(arm.entry):
            return False
        match arm.block.exit:
            case Branch(inner, if_true, if_false):
                if arm.entry is None or arm.entry.temp != inner:
                    return False
                return self._combine_tests(block, cond, arm, other, arm_when, if_true, if_false)
            case Goto(edge):
                return self._combine_value(block, cond, arm, edge, other, arm_when)
            case Return(value):
                return self._combine_return(block, cond, arm, value, other, arm_when)
        return False

    def _combine_tests(
        self, block: Block, cond: int, arm: Arm, other: Edge, arm_when: bool, if_true: Edge, if_false: Edge
    ) -> bool:
        assert arm.entry is not None
        inner = arm.entry.temp
        natural, swapped = (if_false, if_true) if arm_when else (if_true, if_false)
        is_natural = same_edge(other, cond, natural, inner)
        if self.conditions.begins_case(block, cond, arm.entry, arm_when, is_natural):
            return False
        if not is_natural and not self._may_swap(block, cond, arm, other, swapped, natural):
            return False
        same_side, far_side = (natural, swapped) if is_natural else (swapped, natural)
        negate_arm = not is_natural and self._turns_arm(block, arm, far_side, same_side)
        negate = not is_natural and not negate_arm
        op: ast.boolop = ast.And() if arm_when is not negate else ast.Or()
        result = self.graph.new_temp()
        if inner in self.graph.guarded:
            self.graph.guarded[result] = self.graph.guarded[inner]
        assert isinstance(arm.block.exit, Branch)
        next_is_same = None if arm.block.exit.near is None else arm.block.exit.near == (same_side is if_true)
        self._drop_edge(other)
        if negate_arm:
            arm.entry.expr = negated(arm.entry.expr)
        self._absorb(block, cond, arm, op, negate, result)
        near, far = carried(same_side, inner, result), carried(far_side, inner, result)
        self.uses[result] = 1 + near.args.count(result) + far.args.count(result)
        same_when = isinstance(op, ast.Or)
        true_edge, false_edge = (near, far) if same_when else (far, near)
        assert isinstance(block.exit, Branch)
        true_next = None if next_is_same is None else next_is_same == same_when
        block.exit = Branch(result, true_edge, false_edge, block.exit.line, true_next)
        return True

    def _may_swap(self, block: Block, cond: int, arm: Arm, other: Edge, swapped: Edge, natural: Edge) -> bool:
        """Return whether a test and its arm may be joined if one of them must be negated."""
        assert arm.entry is not None
        if not same_edge(other, cond, swapped, arm.entry.temp) or cond in other.args:
            return False
        return not self._keep_apart(block, arm, [*swapped.args, *natural.args])

    def _turns_arm(self, block: Block, arm: Arm, far: Edge, near: Edge) -> bool:
        """Return whether the arm is negated, instead of the test before it."""
        assert arm.entry is not None
        return arm.entry.temp not in far.args and self._arm_negates(block, arm, far, near)

    def _arm_negates(self, block: Block, arm: Arm, far: Edge, near: Edge) -> bool:
        """Return whether `a and not b` is more readable than `not a or b`, its opposite.

        The code that the whole test guards comes next. A test whose opposite is another operation is not negated.
        """
        assert arm.entry is not None
        last = block.insts[-1].arg if block.insts else None
        if isinstance(last, Compound) and last.is_match:
            return True
        first, second = self._test_of(block), arm.entry.expr
        if keeps_polarity(second) != keeps_polarity(first):
            return not keeps_polarity(second)
        return far.target < near.target

    def _keep_apart(self, block: Block, arm: Arm, carried: list[int]) -> bool:
        """Return whether two tests are separate statements, because joining them would change the operation of one."""
        assert arm.entry is not None
        first = self._test_of(block)
        both = keeps_polarity(first) and keeps_polarity(arm.entry.expr)
        return both and self.graph.negates and not carried and not self.is_expression

    def _test_of(self, block: Block) -> ast.expr | None:
        """Return a block's test, folded, if its last operation makes it."""
        last = block.insts[-1] if block.insts else None
        if last is None or last.op not in LINKS:
            return None
        folder = Folder(self.graph, dict.fromkeys([*last.uses, *last.defs], 1))
        folder.fold([*(inst for inst in block.insts if inst.op == "CONST"), last], RULES)
        return folder.pending[-1].expr

    def _combine_value(self, block: Block, cond: int, arm: Arm, edge: Edge, other: Edge, arm_when: bool) -> bool:
        """Join `a and b` as a value: one edge carries a, the arm computes b, both go to one place."""
        if edge.target != other.target or cond not in other.args:
            return False
        slot = other.args.index(cond)
        if any(edge.args[k] != other.args[k] for k in range(len(edge.args)) if k != slot):
            return False
        if arm.entry is None or arm.entry.temp != edge.args[slot]:
            return False
        result = self._joined(block, edge, slot)
        op: ast.boolop = ast.And() if arm_when else ast.Or()
        self._drop_edge(other)
        self._absorb(block, cond, arm, op, False, result)
        args = list(edge.args)
        self.uses[args[slot]] -= 1
        args[slot] = result
        self.uses[result] = self.uses.get(result, 0) + 1
        block.exit = Goto(Edge(edge.target, args))
        return True

    def _joined(self, block: Block, edge: Edge, slot: int) -> int:
        """Return the temporary for an edge's phi argument: that phi, unless its old value is also used here."""
        phi = self.graph.block(edge.target).phis[slot]
        others = [arg for place, arg in enumerate(edge.args) if place != slot]
        if edge.target not in self.done:
            # Only a backward edge in a loop can have used the old value.
            others.extend(temp for inst in block.insts for temp in inst.uses)
        return self.graph.new_temp() if phi in others else phi

    def _combine_return(self, block: Block, cond: int, arm: Arm, value: int, other: Edge, arm_when: bool) -> bool:
        """Join `return a and b`, whose two paths have separate returns."""
        target = self.graph.block(other.target)
        if arm.entry is None or arm.entry.temp != value or self.scope[target.index] != self.scope[block.index]:
            return False
        if not self._returns(other, cond) or not all(inst.op == "POP" for inst in target.insts):
            return False
        result = self.graph.new_temp()
        self._drop_edge(other)
        self._absorb(block, cond, arm, ast.And() if arm_when else ast.Or(), False, result)
        if not self.preds[target.index]:
            self._remove(target)
            assert isinstance(target.exit, Return)
            self.uses[target.exit.value] -= 1
        self.uses[result] = 1
        assert isinstance(arm.block.exit, Return)
        block.exit = Return(result, arm.block.exit.line, None, arm.block.exit.offset)
        return True

    def _absorb(self, block: Block, cond: int, arm: Arm, op: ast.boolop, negate: bool, result: int) -> None:
        """Replace test and arm by one operation that makes `result`."""
        assert arm.entry is not None
        self.conditions.join(cond, result)
        step("block {} absorbs the test of block {}: `{}`", block.index, arm.block.index, type(op).__name__.lower())
        rest = self._chained(block, cond, arm, op, negate)
        right = arm.entry.expr
        extra = externals(arm)
        if rest is not None:
            inst = self._chain(block, rest, arm, result)
        else:

            def make(parts: list[ast.expr]) -> ast.expr:
                left = ast.UnaryOp(op=ast.Not(), operand=parts[0]) if negate else parts[0]
                joined = ast.BoolOp(op=op, values=[left, right])
                note_test(joined, self.graph.guarded.get(cond))
                return joined

            # The test of the left operand runs code.
            compound = Compound(make, IMPURE, arm.entry.reads, arm.entry.writes)
            inst = Inst("EXPR", compound, [cond, *extra], [result], last_line(block), -1)
        block.insts.append(inst)
        self._remove(arm.block)
        self.no_arm.discard(block.index)

    # -- a < b < c ----------------------------------------------------------------------

    def _chained(self, block: Block, cond: int, arm: Arm, op: ast.boolop, negate: bool) -> ast.Compare | None:
        """Return the next comparison, if an arm compares the right operand of the block's comparison again."""
        assert arm.entry is not None
        last = block.insts[-1] if block.insts else None
        if last is None or last.defs != [cond] or last.op not in LINKS:
            return None
        # The arm is reached when the comparison holds; its failure decides `a and b`, or `not a or b`.
        outcome = isinstance(op, ast.Or)
        for whole in (arm.entry.expr, turned(arm.entry.expr, outcome)) if negate == outcome else ():
            right = link(whole, outcome)
            if right is not None and isinstance(right.left, Temp) and right.left.temp == last.uses[1]:
                arm.entry.expr = whole
                return right
        return None

    def _chain(self, block: Block, rest: ast.Compare, arm: Arm, result: int) -> Inst:
        assert arm.entry is not None
        whole = arm.entry.expr
        first = block.insts.pop()
        folder = Folder(self.graph, {})
        FOLD[first.op](folder, first)
        (entry,) = folder.pending
        assert isinstance(entry.expr, ast.Compare)
        op = entry.expr.ops[0]

        def make(parts: list[ast.expr]) -> ast.expr:
            chain = ast.Compare(left=parts[0], ops=[op, *rest.ops], comparators=[parts[1], *rest.comparators])
            return with_link(whole, rest, chain)

        self.uses[first.uses[1]] -= 1
        extra = [temp for temp in externals(arm) if temp != first.uses[1]]
        compound = Compound(make, arm.entry.effect, arm.entry.reads, arm.entry.writes, direct=len(first.uses))
        return Inst("EXPR", compound, [*first.uses, *extra], [result], first.line, first.offset)

    # -- a if c else b ------------------------------------------------------------------

    def _conditional(self, block: Block, cond: int, true_arm: Arm, false_arm: Arm) -> bool:
        """Join two arms that compute the two values of one phi, or of one `return`, or two similar tests."""
        match true_arm.block.exit, false_arm.block.exit:
            case Goto(true_edge), Goto(false_edge):
                return self._conditional_value(block, cond, true_arm, false_arm, true_edge, false_edge)
            case Return(true_value, line), Return(false_value):
                # Only in a lambda are two returns one statement.
                if not (computes(true_arm, true_value) and computes(false_arm, false_value)):
                    return False
                result = self.graph.new_temp()
                self.uses[result] = 1
                self._if_expression(block, cond, true_arm, false_arm, result)
                block.exit = Return(result, line)
                return True
            case Branch() as true_test, Branch() as false_test:
                if not (computes(true_arm, true_test.cond) and computes(false_arm, false_test.cond)):
                    return False
                if any(self.conditions.first_subject(arm.entry) for arm in (true_arm, false_arm)):
                    return False
                return self._conditional_test(block, cond, true_arm, false_arm, true_test, false_test)
        return False

    def _conditional_test(
        self, block: Block, cond: int, true_arm: Arm, false_arm: Arm, true_test: Branch, false_test: Branch
    ) -> bool:
        """Join two arms that are tests with the same two targets; if they are opposites, one of them is negated."""
        alike, crossed = same_ways(true_test, false_test), same_ways(true_test, turned_round(false_test))
        passed = {*true_test.if_true.args, *true_test.if_false.args}
        if not alike and (not crossed or {true_test.cond, false_test.cond} & passed):
            return False
        result = self.graph.new_temp()
        if not alike:
            takes_second = negates_second(true_arm, false_arm)
            turning = false_arm if takes_second else true_arm
            assert turning.entry is not None
            turning.entry.expr = negated(turning.entry.expr)
            if takes_second:
                false_test = turned_round(false_test)
            else:
                true_test = turned_round(true_test)
        self._if_expression(block, cond, true_arm, false_arm, result)
        self._drop_edge(false_test.if_true)
        self._drop_edge(false_test.if_false)
        near = carried(true_test.if_true, true_test.cond, result)
        far = carried(true_test.if_false, true_test.cond, result)
        self.uses[result] = 1 + near.args.count(result) + far.args.count(result)
        block.exit = Branch(result, near, far, None, false_test.near)
        return True

    def _conditional_value(
        self, block: Block, cond: int, true_arm: Arm, false_arm: Arm, true_edge: Edge, false_edge: Edge
    ) -> bool:
        if true_edge.target != false_edge.target:
            return False
        # Both arms may compute the phi itself: each has become `a or b`.
        computed = [computes(true_arm, a) and computes(false_arm, b) for a, b in zip(true_edge.args, false_edge.args)]
        differ = [a != b or both for a, b, both in zip(true_edge.args, false_edge.args, computed)]
        if differ.count(True) != 1 or not any(computed):
            return False
        slot = differ.index(True)
        result = self._joined(block, true_edge, slot)
        self._if_expression(block, cond, true_arm, false_arm, result)
        self._drop_edge(false_edge)
        self.uses[true_edge.args[slot]] -= 1
        self.uses[result] = self.uses.get(result, 0) + 1
        block.exit = Goto(Edge(true_edge.target, [*true_edge.args[:slot], result, *true_edge.args[slot + 1 :]]))
        return True

    def _if_expression(self, block: Block, cond: int, true_arm: Arm, false_arm: Arm, result: int) -> None:
        assert true_arm.entry is not None
        assert false_arm.entry is not None
        body, orelse = true_arm.entry, false_arm.entry
        step("block {}: `if else` of blocks {} and {}", block.index, true_arm.block.index, false_arm.block.index)

        def make(parts: list[ast.expr]) -> ast.expr:
            return ast.IfExp(test=parts[0], body=body.expr, orelse=orelse.expr)

        extra = list(dict.fromkeys(externals(true_arm) + externals(false_arm)))
        compound = Compound(make, IMPURE, body.reads | orelse.reads, body.writes | orelse.writes)
        block.insts.append(Inst("EXPR", compound, [cond, *extra], [result], last_line(block), -1))
        self._remove(true_arm.block)
        self._remove(false_arm.block)
        self.no_arm.discard(block.index)


__all__ = ["collapse", "count_uses"]
