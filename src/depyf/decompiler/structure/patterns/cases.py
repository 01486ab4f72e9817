"""Join the tests of one pattern on the graph.

Before: 1: v1 = MATCH_SEQUENCE v0; Branch v1 -> 2, 9      2: v2 = GET_LEN v0; ...; Branch v4 -> 3, 9
        3: v5 v6 = UNPACK_SEQUENCE v0; STORE_FAST a v5; STORE_FAST b v6; ...
After:  1: v7 = EXPR (v0 matches [a, b]); Branch v7 -> 3, 9      3: ...

Two tests that fail to one place are parts of one pattern; two that succeed to one place are alternatives.
"""

from __future__ import annotations

from dataclasses import replace

from depyf.decompiler.graph.orders import postorder
from depyf.decompiler.graph.tac import Block, Branch, Edge, Goto, Graph, Inst
from depyf.decompiler.steps import step
from depyf.decompiler.structure.patterns.copied import depth, drops, join_copied_bodies, paired, same_ways_on
from depyf.decompiler.structure.patterns.facts import (
    OPERANDS,
    TESTED,
    Test,
    first_captures,
    has_room,
    is_about,
    makes_subject,
    nested,
    resolved,
    through,
)
from depyf.decompiler.structure.patterns.junk import drop_junk
from depyf.decompiler.structure.patterns.roots import STORES, find_roots, parts
from depyf.decompiler.structure.patterns.write import Alternatives, Captures, pattern_test
from depyf.decompiler.structure.regions.table import prune


def join_cases(graph: Graph, scope: dict[int, int]) -> None:
    """Join the tests of each pattern into one; `scope` determines which blocks may be joined."""
    join_copied_bodies(graph)
    roots = find_roots(graph)
    if not roots:
        return
    drop_junk(graph, parts(graph, roots))
    joiner = _Joiner(graph, scope, roots)
    for index in postorder(graph):
        while joiner.step(index):
            pass
    joiner.finish_all()
    prune(graph)


class _Joiner:
    def __init__(self, graph: Graph, scope: dict[int, int], roots: dict[int, int]) -> None:
        self.graph = graph
        self.scope = scope
        self.roots = roots
        self.parts = parts(graph, roots)
        self.made = {temp: inst for block in graph.live() for inst in block.insts for temp in inst.defs}
        self.passed: dict[int, int] = {}
        """The name of a value that several alternatives capture, where they merge and after that."""
        self.tests: dict[int, Test] = {}
        for block in graph.live():
            test = self._test(block)
            if test is not None:
                self.tests[block.index] = test
        for test in self.tests.values():
            test.success, test.fail = self._land(test.success), self._land(test.fail)
        self.preds = self._count_edges()

    def _count_edges(self) -> dict[int, int]:
        """Return how many edges lead to each block from reachable blocks: some blocks became unreachable."""
        preds = {0: 1}
        seen = {0, *(handler.target for handler in self.graph.handlers)}
        work = list(seen)
        while work:
            block = self.graph.blocks[work.pop()]
            test = self.tests.get(block.index) if block is not None else None
            edges = test.edges() if test is not None else block.exit.edges() if block is not None else []
            for edge in edges:
                preds[edge.target] = preds.get(edge.target, 0) + 1
                if edge.target not in seen:
                    seen.add(edge.target)
                    work.append(edge.target)
        return preds

    # -- single tests ----------------------------------------------------------------------

    def _test(self, block: Block) -> Test | None:
        """Return the pattern test at the end of a block, or None."""
        if not isinstance(block.exit, Branch):
            return None
        cond = block.exit.cond
        inst = next((inst for inst in block.insts if cond in inst.defs), None)
        if inst is None:
            return None
        ways = self._ways(inst, block.exit)
        if ways is None:
            return None
        root = self.roots[inst.uses[0]]
        owned = self.owned(block, root)
        facts = [operation for operation in block.insts if id(operation) in owned]
        pure = all(id(operation) in owned or operation.op == "POP" for operation in block.insts)
        return Test(root, facts, *ways, pure)

    def _ways(self, inst: Inst, exit_: Branch) -> tuple[Edge, Edge] | None:
        """Return the targets of a test on success and on failure; None if it is not a pattern test."""
        if inst.op in ("MATCH_SEQUENCE", "MATCH_MAPPING"):
            return exit_.if_true, exit_.if_false
        if inst.op == "COMPARE" and inst.uses[0] in self.roots:
            if inst.arg == "==" or self.made[inst.uses[0]].op == "GET_LEN":
                return exit_.if_true, exit_.if_false
        if inst.op == "IS" and inst.uses[0] in self.roots:
            same, other = (exit_.if_false, exit_.if_true) if inst.arg else (exit_.if_true, exit_.if_false)
            maker = self.made.get(inst.uses[0])
            if maker is not None and maker.op in ("MATCH_CLASS", "MATCH_KEYS"):
                return other, same
            return same, other
        return None

    def owned(self, block: Block, root: int) -> set[int]:
        """Return the identities of the operations of a block that belong to a pattern for the subject `root`."""
        needed: set[int] = set()
        ids: set[int] = set()
        for inst in reversed(block.insts):
            if inst.op == "POP" or inst.op in STORES:
                continue
            mine = any(self.roots.get(temp) == root for temp in inst.uses) and not makes_subject(inst, root)
            asked = inst.op in OPERANDS and any(temp in needed for temp in inst.defs)
            if mine or asked:
                ids.add(id(inst))
                needed.update(temp for temp in inst.uses if self.roots.get(temp) != temp)
        return ids

    def _land(self, edge: Edge) -> Edge:
        """Follow an edge past blocks that only drop values."""
        seen = {edge.target}
        while True:
            block = self.graph.block(edge.target)
            if not isinstance(block.exit, Goto) or any(inst.op != "POP" for inst in block.insts):
                return edge
            if block.exit.edge.target in seen:
                return edge
            if any(inst.uses[0] not in self.parts for inst in block.insts):
                return edge
            renamed = dict(zip(block.phis, edge.args))
            edge = Edge(block.exit.edge.target, [renamed.get(arg, arg) for arg in block.exit.edge.args])
            seen.add(edge.target)

    # -- joining ------------------------------------------------------------------------------

    def step(self, index: int) -> bool:
        """Join a test with the following code; return whether anything was joined."""
        test = self.tests.get(index)
        if test is None:
            return False
        if test.sure:
            return self._straight(index, test) or self._both(index, test)
        return (
            self._straight(index, test)
            or self._both(index, test)
            or self._either(index, test)
            or self._whatever(index, test)
        )

    def _alone(self, index: int, target: int) -> Block | None:
        """Return a block that only this edge reaches, if it may be joined."""
        if self.preds.get(target) != 1 or self.scope.get(target) != self.scope[index]:
            return None
        return self.graph.blocks[target]

    def _following(self, index: int, target: int, root: int) -> tuple[Block, Test] | None:
        """Return a block that only this edge reaches and that only tests the same subject, with its test, or None."""
        block = self._alone(index, target)
        if block is None or block.index not in self.tests:
            return None
        test = self.tests[block.index]
        return (block, test) if test.pure and test.root == root else None

    def _straight(self, index: int, test: Test) -> bool:
        """Absorb a block after a success that only unpacks the subject further."""
        block = self._alone(index, test.success.target)
        if block is None or not isinstance(block.exit, Goto):
            return False
        owned = self.owned(block, test.root)
        if not owned or any(id(inst) not in owned and inst.op != "POP" for inst in block.insts):
            return False
        onward = through(block, test.success, block.exit.edge)
        test.facts += [inst for inst in block.insts if id(inst) in owned]
        test.success = onward
        self.graph.blocks[block.index] = None
        return True

    def _both(self, index: int, test: Test) -> bool:
        """Join two tests that fail to one place."""
        following = self._following(index, test.success.target, test.root)
        if following is None:
            return False
        block, other = following
        fail = through(block, test.success, other.fail)
        can_both_fail = not test.sure and not other.sure
        if can_both_fail and fail != test.fail and not self._fails_alike(fail, test.fail):
            if not self._whatever(block.index, other):
                return False
            can_both_fail = False
        step("block {} tests one pattern with block {}", index, block.index)
        for phi, arg in zip(block.phis, test.success.args):
            self.passed[phi] = self.passed.get(arg, arg)
        test.facts += other.facts
        test.outs |= other.outs
        test.success = through(block, test.success, other.success)
        if test.sure:
            test.fail, test.sure = fail, other.sure
        self._absorb(block, fail if can_both_fail else None)
        return True

    def _fails_alike(self, left: Edge, right: Edge) -> bool:
        """Return whether two failures lead to copies of the same code; the inner one has more to drop."""
        if left.args or right.args:
            return False
        return same_ways_on(self.graph, self.graph.block(left.target), self.graph.block(right.target))

    def _either(self, index: int, test: Test) -> bool:
        """Join two tests that succeed to one place."""
        following = self._following(index, test.fail.target, test.root)
        if following is None:
            return False
        block, other = following
        success = through(block, test.fail, other.success)
        dropped = success
        is_same = success.target == test.success.target
        if has_room(test, other) or (not (is_same and other.sure) and not self._is_alternative(block, other)):
            return False
        if not is_same:
            joined = self._join_copied(test, other, success)
            if joined is None:
                return False
            success = joined
        fail = through(block, test.fail, other.fail)
        self._alternate(test, self._subject(other), other.facts, success)
        test.fail, test.sure = fail, other.sure
        self._absorb(block, dropped)
        return True

    def _whatever(self, index: int, test: Test) -> bool:
        """Add a wildcard alternative to a test that continues in the same way after a failure.

        The subject of alternatives stays on the stack while they are tested; that of an empty last case does not.
        """
        target = test.success.target
        subject = next(inst.uses[0] for inst in test.facts if inst.op in TESTED)
        goes_on_alike = test.fail.target == target or self._fails_alike(test.fail, test.success)
        if self._drops_subject(test, subject) if goes_on_alike else not self._binds_alike(test, subject):
            return False
        following = self.tests.get(target)
        if following is not None and self._subject(following) == subject:
            return False  # A wildcard would be the last case: this case has a false guard.
        if not self._waits_for_another(index, test, subject) or not is_about(subject, test.facts):
            return False
        fail = test.fail if goes_on_alike else self._join_copied(test, replace(test, facts=[]), test.fail)
        if fail is None:
            return False
        differing = [
            (success_arg, fail_arg)
            for success_arg, fail_arg in zip(test.success.args, fail.args)
            if success_arg != fail_arg
        ]
        if any(self.roots.get(success_arg) != test.root or fail_arg != subject for success_arg, fail_arg in differing):
            return False
        step("block {} tests for a pattern or a wildcard", index)
        self._alternate(test, subject, [], Edge(target, fail.args))
        self.preds[test.fail.target] -= 1
        test.fail, test.sure = test.success, True
        return True

    def _drops_subject(self, test: Test, subject: int) -> bool:
        """Return whether the success and the failure of a test, which bind nothing, drop the subject separately.

        `case str() | None: pass` does. With `str() | None | _`, both lead to one place that drops it.
        """
        if subject != test.root or test.success.args != test.fail.args:
            return False
        facts = list(test.facts)
        for inst in facts:  # The list grows during the iteration.
            if isinstance(inst.arg, Alternatives):
                facts += [inner for alternative in inst.arg.facts for inner in alternative]
        return any(test.root in self.graph.parting.get(temp, ()) for inst in facts for temp in inst.defs)

    def _waits_for_another(self, index: int, test: Test, subject: int) -> bool:
        """Return whether the subject of a test stays on the stack, so that another alternative may follow."""
        maker = self.made.get(subject)
        if maker is not None and maker.op in ("MATCH_KEYS", "GET_LEN"):
            return False
        waiting = len(self._waiting(self.graph.block(index), subject))
        return waiting > 0 and (subject == test.root or self._is_followed(index, subject, test.fail))

    def _binds_alike(self, test: Test, subject: int) -> bool:
        """Return whether a test whose failure leads to a copy of its success binds the subject there.

        Such a test is followed by a wildcard alternative.
        """
        success_block, fail_block = self.graph.block(test.success.target), self.graph.block(test.fail.target)
        values = paired(success_block, fail_block)
        if not values or self.owned(success_block, test.root):
            return False
        return all(other in (use, subject) for use, other in values.items())

    def _is_followed(self, index: int, part: int, fail: Edge) -> bool:
        """Return whether another alternative follows the test of a part: a copy of the part is on the stack.

        It follows the first test. It also follows a test whose failure leads to other code than the failures of the
        tests around the part. An empty last case continues in the same way from each of its tests.
        """
        taken = {block.index for block in self.graph.live() if any(part in inst.defs for inst in block.insts)}
        earlier = [inst for inst in self.tests[index].facts if inst.op == "ALTERNATIVES" and part in inst.uses]
        if index in taken and not earlier:
            return True
        around = [test.fail for test in self.tests.values() if test.success.target in taken]
        return any(other != fail and not self._fails_alike(other, fail) for other in around)

    def _alternate(self, test: Test, subject: int, facts: list[Inst], success: Edge) -> None:
        """Add an alternative to a test; `facts` are its operations, and it continues at `success`."""
        outs: list[tuple[int, list[int]]] = []
        args: list[int] = []
        for first_arg, second_arg in zip(test.success.args, success.args):
            args.append(first_arg if first_arg == second_arg else self.graph.new_temp())
            if first_arg != second_arg:
                outs.append((args[-1], [first_arg, second_arg]))
        before, first = self._split(test.facts, subject)
        alternatives = Alternatives([first, facts], outs)
        line = next((inst.line for inst in first if inst.line is not None), None)
        test.facts = [*before, Inst("ALTERNATIVES", alternatives, [subject], [out for out, _ in outs], line, -1)]
        for out, _ in outs:
            test.outs[out] = None
            self.roots[out] = test.root
        test.success = Edge(success.target, args)

    def _join_copied(self, test: Test, other: Test, success: Edge) -> Edge | None:
        """Move the leading operations of two copies of one body that belong to the pattern into the tests.

        Returns the edge from the second to the first's body, with the second's captures; None if they are no copies.
        """
        if self.preds.get(success.target) != 1 or self.preds.get(test.success.target) != 1:
            return None
        first_body, second_body = self.graph.block(test.success.target), self.graph.block(success.target)
        owned = self.owned(first_body, test.root) | self.owned(second_body, test.root)
        values = paired(first_body, second_body, owned) if drops(first_body, second_body) else None
        if values is None:
            return None
        first, second = (
            dict(zip(block.phis, edge.args)) for block, edge in ((first_body, test.success), (second_body, success))
        )
        given = {use: (first.get(use, use), second.get(other, other)) for use, other in values.items()}
        differing = {use: pair for use, pair in given.items() if pair[0] != pair[1]}
        if any(self.roots.get(value) != test.root for pair in differing.values() for value in pair):
            return None
        for block, facts in ((first_body, test.facts), (second_body, other.facts)):
            facts += [inst for inst in block.insts if id(inst) in owned]
            block.insts = [inst for inst in block.insts if id(inst) not in owned]
        phis = {use: self.graph.new_temp() for use in differing}
        named = {use: phis.get(use, pair[0]) for use, pair in given.items()}
        for inst in first_body.insts:
            inst.uses = [named.get(use, use) for use in inst.uses]
        first_body.phis = list(phis.values())
        test.success.args = [pair[0] for pair in differing.values()]
        return Edge(first_body.index, [pair[1] for pair in differing.values()])

    def _is_alternative(self, block: Block, test: Test) -> bool:
        """Return whether a test is for an alternative, not for another case with the same body.

        The subject of alternatives is below them on the stack: a test takes a copy, and it is dropped when the last has
        failed.
        """
        if self._subject(test) != test.root:
            return True
        waiting = len(self._waiting(block, test.root))
        before = depth(block, test.root)
        # Copies that an alternative itself captures are also on the stack.
        is_kept = before in (waiting, waiting - self._captures_of_root(test))
        is_kept = is_kept or (before > 1 and before in range(waiting - nested(test), waiting))
        return is_kept and depth(self.graph.blocks[test.fail.target], test.root) < before

    def _waiting(self, block: Block, subject: int) -> list[int]:
        """Return the subject once for each copy on the stack where a block tests it."""
        assert isinstance(block.exit, Branch)
        is_kept = self.made[block.exit.cond].op in ("MATCH_SEQUENCE", "MATCH_MAPPING")
        return [subject] * (self.graph.waiting[block.exit.cond].count(subject) - is_kept)

    def _captures_of_root(self, test: Test) -> int:
        """Return how often a test's success captures the subject itself: as many copies stay on the stack."""
        block = self.graph.block(test.success.target)
        alias = dict(zip(block.phis, test.success.args))
        stores = [alias.get(inst.uses[0], inst.uses[0]) for inst in block.insts if inst.op in STORES]
        first = first_captures(test.facts)
        return sum(first.get(temp, temp) == test.root for temp in stores)

    def _subject(self, test: Test) -> int:
        """Return the temporary that the first operation of a test is about."""
        first = next(inst for inst in test.facts if inst.uses and inst.uses[0] in self.roots)
        return first.uses[0]

    def _split(self, facts: list[Inst], subject: int) -> tuple[list[Inst], list[Inst]]:
        """Split the operations that lead to a subject from those on it."""
        start = next(place for place, inst in enumerate(facts) if inst.uses[:1] == [subject])
        while start and not any(temp in self.roots for temp in facts[start - 1].uses):
            start -= 1
        return facts[:start], facts[start:]

    def _absorb(self, block: Block, dropped: Edge | None) -> None:
        """Remove a block whose test is now part of another; one of two edges to the same place is removed with it."""
        del self.tests[block.index]
        self.graph.blocks[block.index] = None
        if dropped is not None:
            self.preds[dropped.target] -= 1

    # -- the end ----------------------------------------------------------------------------------

    def finish_all(self) -> None:
        """Write the test of each pattern in place of its operations."""
        self.preds = self._count_edges()
        for index, test in self.tests.items():
            self._finish(self.graph.block(index), test)

    def _finish(self, block: Block, test: Test) -> None:
        """Replace the operations of a pattern by one test."""
        captures = self._captures(block, test)
        cond = self.graph.new_temp()
        assert isinstance(block.exit, Branch)
        owned = self.owned(block, test.root)
        block.insts = [inst for inst in block.insts if id(inst) not in owned]
        line = block.exit.line
        compound = pattern_test(test.root, test.facts, captures)
        block.insts.append(Inst("EXPR", compound, [test.root], [cond], line, -1))
        # A test that never fails has one target: it now captures the values that the other alternatives would pass on.
        block.exit = Branch(cond, test.success, test.success if test.sure else test.fail, line)

    def _root(self, temp: int) -> int | None:
        """Return the subject that a value belongs to, or None."""
        return self.roots.get(resolved(temp, self.passed))

    def _captures(self, block: Block, test: Test) -> Captures:
        """Remove the stores of captured values from the start of the block after a success."""
        captures: Captures = {}
        after = self._alone(block.index, test.success.target)
        if after is None:
            return captures
        self._take_cut_off(after)
        alias = dict(zip(after.phis, test.success.args))
        mine = {phi for phi, arg in alias.items() if self.roots.get(arg) == test.root}
        taken = 0
        owned = self.owned(after, test.root)
        for place, inst in enumerate(after.insts):
            if inst.op != "POP" and any(self._root(temp) == test.root or temp in mine for temp in inst.uses):
                if inst.op in STORES or id(inst) in owned:
                    taken = place + 1
                    continue
                break
        for inst in after.insts[:taken]:
            if inst.op in STORES:
                value = alias.get(inst.uses[0], inst.uses[0])
                captures.setdefault(resolved(value, self.passed), []).append(inst)
            elif id(inst) in owned:
                test.facts.append(inst)
        after.insts = [inst for inst in after.insts[:taken] if inst.op == "POP"] + after.insts[taken:]
        after.insts = [inst for inst in after.insts if inst.op != "POP" or inst.uses[0] not in mine]
        kept = [(phi, arg) for phi, arg in zip(after.phis, test.success.args) if phi not in mine]
        after.phis = [phi for phi, _ in kept]
        test.success.args = [arg for _, arg in kept]
        return captures

    def _take_cut_off(self, after: Block) -> None:
        """Join a block of captures with the captures behind it that several alternatives shared."""
        while isinstance(after.exit, Goto) and all(inst.op == "POP" or inst.op in STORES for inst in after.insts):
            behind = self._alone(after.index, after.exit.edge.target)
            if behind is None or behind.phis or behind.handler != after.handler or behind.index in self.tests:
                return
            step("block {} absorbs block {}, its only successor", after.index, behind.index)
            after.insts += behind.insts
            after.exit = behind.exit
            self.graph.blocks[behind.index] = None
