"""`except*`.

Before: the handler keeps a list; each clause splits off the exceptions that its type matches; its body is protected by
        a handler that appends to the list and continues with the next clause; the end raises the contents of the list
After:  the tests of an `except` chain (CHECK_EG_MATCH with one result), bodies that go to the end of the statement, and
        an implicit end that raises again
"""

from __future__ import annotations

from depyf.bytecode.records import dataclass
from depyf.decompiler.graph.tac import Block, Branch, Edge, Goto, Graph, Inst, Reraise
from depyf.decompiler.steps import step
from depyf.decompiler.structure.regions.table import prune, skip_empty
from depyf.decompiler.structure.regions.ways import Ways

UNBINDING = 3
"""Operations of `name = None; del name`."""
TEST = 3
"""Operations of the test of a clause: CHECK_EG_MATCH, CONST None, IS."""


def restore_except_star(graph: Graph) -> None:
    """Give the handlers of `except*` clauses the form of `except` clauses."""
    targets = {number: graph.blocks[handler.target] for number, handler in enumerate(graph.handlers)}
    starts = {number: block for number, block in targets.items() if block is not None and _is_start(block)}
    if not starts:
        return
    ways = Ways(graph)
    _join_ends(graph, ways)
    for number, start in starts.items():
        chain = _chain(graph, start)
        if chain is not None:
            tests = [clause.test for clause in chain]
            step("handler {} tests the clauses of an `except*`: blocks {}", number, [block.index for block in tests])
            pending = start.insts.pop(1)
            _Rewriter(graph, number, chain, pending.defs[0], ways).rewrite()
    prune(graph)


def _is_start(block: Block) -> bool:
    return [inst.op for inst in block.insts[:2]] == ["PUSH_EXC_INFO", "BUILD_LIST"]


def _join_ends(graph: Graph, ways: Ways) -> None:
    """Join the places that append the unmatched rest to the list: 3.13 copies them to the end of each clause.

    Before: 4: LIST_APPEND pending v3 -> 6    5: LIST_APPEND pending v3 -> 6    6: PREP_RERAISE_STAR v0 pending; ...
    After:  4: -> 6    5: -> 6    6: LIST_APPEND pending v3; PREP_RERAISE_STAR v0 pending; ...
    """
    for end in graph.live():
        if not end.insts or end.insts[0].op != "PREP_RERAISE_STAR":
            continue
        pending = end.insts[0].uses[1]
        before = [graph.block(index) for index in sorted(ways.sources(end.index))]
        values = {_appended(block, pending) for block in before}
        if len(values) == 1 and None not in values:
            step("blocks {} append to v{} in block {}", [block.index for block in before], pending, end.index)
            end.insts.insert(0, [block.insts.pop() for block in before][0])


def _appended(block: Block, pending: int) -> int | None:
    """Return the value that the last operation of a block appends to a list, or None."""
    match block:
        case Block(insts=[*_, Inst("LIST_APPEND", _, [items, value])], exit=Goto()) if items == pending:
            return value
    return None


@dataclass(slots=True)
class _Clause:
    """The start of a clause, and the block that ends with its test; the last clause raises the rest."""

    start: Block
    test: Block


def _chain(graph: Graph, block: Block) -> list[_Clause] | None:
    """Return the clauses."""
    clauses: list[_Clause] = []
    seen: set[int] = set()
    rest = block.insts[0].uses[0]
    while block.index not in seen:
        test = _tested(graph, block, seen)
        if test is None or (test is not block and not _takes(test, rest)):
            return None
        clauses.append(_Clause(block, test))
        if _is_end(test):
            return clauses
        rest = test.insts[-TEST].defs[0]
        block = _behind(graph, _ways(test)[1].target)
    return None


def _takes(test: Block, rest: int) -> bool:
    """Return whether a test is of the rest after the previous clauses."""
    return not _is_end(test) and test.insts[-TEST].uses[0] == rest


def _is_end(block: Block) -> bool:
    return [inst.op for inst in block.insts[:2]] == ["LIST_APPEND", "PREP_RERAISE_STAR"]


def _tested(graph: Graph, start: Block, seen: set[int]) -> Block | None:
    """Return the block that ends with the first test from a block on: the type may itself need several blocks."""
    work = [start]
    while work:
        block = work.pop()
        if block.index in seen:
            continue
        seen.add(block.index)
        last = [inst.op for inst in block.insts[-3:]]
        if _is_end(block) or (last == ["CHECK_EG_MATCH", "CONST", "IS"] and isinstance(block.exit, Branch)):
            return block
        work += [graph.block(edge.target) for edge in block.exit.edges()]
    return None


def _ways(block: Block) -> tuple[Edge, Edge]:
    """Return the targets of a test for None: with a value, and without one."""
    exit_ = block.exit
    assert isinstance(exit_, Branch)
    is_not = next(inst.arg for inst in reversed(block.insts) if inst.op == "IS")
    return (exit_.if_true, exit_.if_false) if is_not else (exit_.if_false, exit_.if_true)


def _behind(graph: Graph, index: int) -> Block:
    """Return the target of a chain of blocks that only drop values."""
    block = graph.block(index)
    seen = {index}
    while all(inst.op == "POP" for inst in block.insts) and isinstance(block.exit, Goto):
        if block.exit.edge.target in seen:
            break
        block = graph.block(block.exit.edge.target)
        seen.add(block.index)
    return block


class _Rewriter:
    def __init__(self, graph: Graph, handler: int, chain: list[_Clause], pending: int, ways: Ways) -> None:
        self.graph = graph
        self.ways = ways
        self.exc = graph.handlers[handler].exc
        self.starts = [clause.start for clause in chain]
        self.tests = [clause.test for clause in chain]
        self.pending = pending
        self.done = _ways(self.tests[-1])[1].target

    def rewrite(self) -> None:
        """Rewrite every clause, and the end."""
        self._open_bodies()
        self._finish_bodies()
        for block in self.tests[:-1]:
            self._test(block)
        last = self.tests[-1]
        (raised,) = next(inst.defs for inst in last.insts if inst.op == "PREP_RERAISE_STAR")
        done = self.graph.block(self.done)
        done.insts = [inst for inst in done.insts if inst.op != "POP" or inst.uses != [raised]]
        last.exit = Reraise(self.exc)
        last.insts = []

    def _open_bodies(self) -> None:
        """Remove the protection from the bodies of clauses: from the targets of their tests, and their successors."""
        graph = self.graph
        for number in sorted(self._appending()):
            for index in list(self.ways.protected(number)):
                block = graph.block(index)
                block.handler = graph.block(graph.handlers[number].target).handler
                self.ways.note(block)

    def _appending(self) -> set[int]:
        """Return the handlers of the clauses' bodies: they lead to the next test, and append to the list."""
        graph = self.graph
        handlers: set[int] = set()
        for block in self.starts[1:]:
            for source in self._leading(block.index):
                for number in self.ways.handlers(source):
                    insts = graph.block(source).insts
                    exc = graph.handlers[number].exc
                    if any(inst.uses == [self.pending, exc] for inst in insts):
                        handlers.add(number)
        return handlers

    def _leading(self, index: int) -> set[int]:
        """Return a block and its predecessors, direct or through blocks that only drop values."""
        leading: set[int] = set()
        work = [index]
        while work:
            for source in self.ways.sources(work.pop()):
                block = self.graph.block(source)
                if source not in leading:
                    leading.add(source)
                    if all(inst.op == "POP" for inst in block.insts) and isinstance(block.exit, Goto):
                        work.append(source)
        return leading

    def _finish_bodies(self) -> None:
        """Redirect the bodies to the end of the statement; a clause but the first is reached from the previous test."""
        graph = self.graph
        tests = {block.index for block in self.tests}
        nexts = {block.index for block in self.starts[1:]}
        failing: set[int] = set()
        for block in self.tests[:-1]:
            index = _ways(block)[1].target
            while index not in nexts:
                failing.add(index)
                index = next(edge.target for edge in graph.block(index).exit.edges())
        leading = set().union(*(self._leading(index) for index in nexts))
        for block in map(graph.block, sorted(leading - tests - failing)):
            for edge in block.exit.edges():
                if _behind(graph, edge.target).index in nexts:
                    edge.target, edge.args = self.done, []
                    self.ways.note(block)
                    self._unbind(block)

    def _unbind(self, block: Block) -> None:
        """Remove `name = None; del name` from the end of a body."""
        tail = block.insts[-UNBINDING:]
        ops = [inst.op.partition("_")[0] for inst in tail]
        if ops == ["CONST", "STORE", "DELETE"] and tail[1].uses == tail[0].defs and tail[1].arg == tail[2].arg:
            del block.insts[-UNBINDING:]

    def _test(self, block: Block) -> None:
        match, rest = _ways(block)
        check = block.insts[-TEST]
        matched = check.defs[1]
        cond = self.graph.new_temp()
        test = Inst(check.op, None, [self.exc, check.uses[1]], [cond], check.line, check.offset)
        block.insts[-TEST:] = [test]
        assert isinstance(block.exit, Branch)
        block.exit = Branch(cond, match, Edge(_behind(self.graph, rest.target).index), block.exit.line)
        body = skip_empty(self.graph, match.target)
        if body.insts and body.insts[0].uses == [matched]:
            first = body.insts[0]
            store = [Inst(first.op, first.arg, [self.exc], [], first.line, first.offset)]
            body.insts[:1] = store if first.op != "POP" else []
