"""The way out for control flow that fits no statement: one loop that dispatches on the number of a block.

    state = 0
    while True:
        if state == 0: ...; state = 2
        elif state == 1: ...

Every block becomes one arm; it ends by setting the state, returning or raising. Values that cross blocks are in
variables. The arms are found by halving the range of states, so that neither nesting nor time grows with their number.
"""

from __future__ import annotations

import ast

from depyf.errors import DecompilationError
from depyf.lift.nodes import Temp
from depyf.lift.tac import Block, ForIter, Graph
from depyf.structure.collapse import count_uses
from depyf.structure.nodes import items_of
from depyf.structure.tree import If, Item, Jump

LEAVES = 8
"""States told apart by an `elif` chain; more are halved first."""


def dispatch(graph: Graph) -> list[ast.stmt]:
    """Return the statements of a graph without protected regions.

    Raises DecompilationError if a handler protects some block.
    """
    for block in graph.live():
        if block.handler >= 0:
            raise DecompilationError(
                "the control flow fits no statement, and exceptions are handled in it", code=str(graph.code)
            )
    return _Dispatcher(graph).run()


class _Dispatcher:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.uses = count_uses(graph)
        self.state = graph.new_temp()
        graph.hints[self.state] = "state"
        self.number = {block.index: place for place, block in enumerate(graph.live())}

    def run(self) -> list[ast.stmt]:
        """Return the initial assignment and the loop."""
        arms = [(self.number[block.index], self._arm(block)) for block in self.graph.live()]
        loop = ast.While(test=ast.Constant(value=True), body=self._choose(arms), orelse=[], lineno=0)
        return [self._set(0), loop]

    def _set(self, block: int) -> ast.stmt:
        number = ast.Constant(value=self.number[block])
        return ast.Assign(targets=[Temp(temp=self.state)], value=number, lineno=0)

    def _compare(self, op: ast.cmpop, number: int) -> ast.expr:
        return ast.Compare(left=Temp(temp=self.state), ops=[op], comparators=[ast.Constant(value=number)])

    def _choose(self, arms: list[tuple[int, list[ast.stmt]]]) -> list[ast.stmt]:
        """Return the tests that lead to the arms: halves, then a chain."""
        done: dict[tuple[int, int], list[ast.stmt]] = {}
        work = [(0, len(arms))]
        while work:
            low, high = work[-1]
            if high - low <= LEAVES:
                done[work.pop()] = self._chain(arms[low:high])
                continue
            middle = (low + high) // 2
            halves = [(low, middle), (middle, high)]
            if not all(half in done for half in halves):
                work.extend(half for half in halves if half not in done)
                continue
            test = self._compare(ast.Lt(), arms[middle][0])
            done[work.pop()] = [ast.If(test=test, body=done[halves[0]], orelse=done[halves[1]], lineno=0)]
        return done[0, len(arms)]

    def _chain(self, arms: list[tuple[int, list[ast.stmt]]]) -> list[ast.stmt]:
        rest = arms[-1][1]
        for number, stmts in reversed(arms[:-1]):
            rest = [ast.If(test=self._compare(ast.Eq(), number), body=stmts, orelse=rest, lineno=0)]
        return rest

    def _arm(self, block: Block) -> list[ast.stmt]:
        items = items_of(self.graph, block, self.uses)
        stmts = [stmt for item in items for stmt in self._item(item)]
        if isinstance(block.exit, ForIter):
            stmts.append(self._for(block.exit))
        return stmts or [ast.Pass()]

    def _item(self, item: Item) -> list[ast.stmt]:
        if isinstance(item, If):
            body = [self._simple(part) for part in item.body]
            orelse = [self._simple(part) for part in item.orelse]
            return [ast.If(test=item.test, body=body, orelse=orelse, lineno=0)]
        return [self._simple(item)]

    def _simple(self, item: Item) -> ast.stmt:
        if isinstance(item, Jump):
            return self._set(item.label)
        assert isinstance(item, ast.stmt)
        return item

    def _for(self, exit_: ForIter) -> ast.stmt:
        """Take one value: a `for` that is left at once, or whose `else` runs when there is none."""
        return ast.For(
            target=Temp(temp=exit_.value),
            iter=Temp(temp=exit_.iterator),
            body=[self._set(exit_.body.target), ast.Break()],
            orelse=[self._set(exit_.done.target)],
            lineno=0,
        )
