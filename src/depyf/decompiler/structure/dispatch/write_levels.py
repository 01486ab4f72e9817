"""Write a graph as one `try` of two levels: this frame handles no exception, or one."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import cast

from depyf.decompiler.graph.tac import KEEP, Block, Edge, Goto, Graph, Reraise
from depyf.decompiler.lift.keep import BOOKKEEPING, read_temps
from depyf.decompiler.lift.nodes import Temp
from depyf.decompiler.structure.dispatch.arms import Arms, Finish, attempt, entered, exception, keep, thrown, untraced
from depyf.decompiler.structure.dispatch.groups import splits
from depyf.decompiler.structure.dispatch.levels import NOTHING, Levels, Switch, Way, pops, pushes
from depyf.decompiler.structure.dispatch.states import Arm, States
from depyf.decompiler.structure.nodes import jump_along
from depyf.decompiler.structure.tree import Enter

State = int | Switch
"""A block by index, or a switch."""


class LevelWriter:
    """Makes the statements of a graph.

    ways: by level, how exceptions leave its states, first those that leave the frame.
    numbers: the state of each block and switch; `first` is the first of level 1.
    handling: the variable for the exception being handled.
    """

    def __init__(self, graph: Graph, levels: Levels, uses: dict[int, int], finish: Finish) -> None:
        self.graph = graph
        self.levels = levels
        self.arms = Arms(graph, uses, finish, self)
        self.states = States(self._variable("state"))
        self.handling = self._variable("handling")
        self.blocks = self._reached()
        self.switches = self._switches()
        self.named = self._named()
        self.read = read_temps(graph, levels.restored)
        self.shows_handling = any(self._saved(block, Temp(temp=self.handling)) for block in self.blocks)
        self.numbers: dict[State, int] = {}
        self.ways: tuple[dict[Way | Switch, list[State]], ...] = ({}, {})
        self._number()

    def _variable(self, hint: str) -> int:
        temp = self.graph.new_temp()
        self.graph.hints[temp] = hint
        return temp

    # -- decisions ----------------------------------------------------------------------------

    def goal(self, index: int) -> int:
        """Return the first non-empty block on the way."""
        seen = set()
        while index not in seen:
            seen.add(index)
            block = self.graph.block(index)
            if block.insts or not isinstance(block.exit, Goto) or block.exit.edge.args:
                return index
            index = block.exit.edge.target
        return index

    def _reached(self) -> list[Block]:
        """Return the blocks that are targets."""
        reached = [self.graph.block(self.goal(0))]
        seen = {reached[0].index}
        for block in reached:
            targets = [self.goal(edge.target) for edge in block.exit.edges()]
            if block.handler >= 0:
                targets.append(self._start(block.handler)[0].index)
            reached.extend(self.graph.block(target) for target in dict.fromkeys(targets) if target not in seen)
            seen.update(targets)
        return reached

    def _switches(self) -> list[Switch]:
        """Return the exceptions that become the handled one without being caught."""
        switches: list[Switch] = []
        for block in self.blocks:
            if pops(block):
                target = self.graph.block(self.goal(cast(Goto, block.exit).edge.target))
                if self.levels.depth(target) and not pushes(target):
                    switches.append(Switch(block.insts[-1].uses[0], target.index))
            if pushes(block):
                switches.append(Switch(block.insts[0].uses[0], block.index))
            way = self.levels.way(block)
            if way.prior != NOTHING and not pushes(start := self._start(way.handler)[0]):
                switches.append(Switch(way.prior, start.index))
        return list(dict.fromkeys(switches))

    def _named(self) -> set[int]:
        """Return the temporaries that a statement names."""
        named = set(self.levels.restored)
        for block in self.graph.live():
            for inst in block.insts:
                if inst.op not in BOOKKEEPING:
                    is_test = inst.op.startswith("CHECK_E") and self.levels.is_current(block, inst.uses[0])
                    silent = 0 if is_test else 1 if inst.op == "WITH_EXCEPT_START" else -1
                    named.update(temp for place, temp in enumerate(inst.uses) if place != silent)
            if not (isinstance(block.exit, Reraise) and self.levels.is_current(block, block.exit.exc)):
                named.update(block.exit.reads())
            for edge in block.exit.edges():
                named.update(edge.args)
        return named

    def _number(self) -> None:
        """Assign numbers to the states; those of one level, and of one way in it, are a range."""
        for ways in self.ways:
            ways[Way(NOTHING, NOTHING)] = []
        for block in self.blocks:
            self.ways[self.levels.level(block)].setdefault(self.levels.way(block), []).append(block.index)
        for switch in self.switches:
            self.ways[0][switch] = [switch]
        for ways in self.ways:
            for states in ways.values():
                for state in states:
                    self.numbers[state] = len(self.numbers)
        self.first = sum(map(len, self.ways[0].values()))

    # -- the interface for arms -------------------------------------------------------------------

    def go(self, index: int, place: Block) -> list[ast.stmt]:
        """Return the statements that go from a block to a block."""
        goal = self.goal(index)
        target = self.graph.block(goal)
        restored = place.insts[-1].uses[0] if pops(place) else self.handling
        if pushes(target):
            switch = Switch(target.insts[0].uses[0], goal)
            return [*self._saved(target, Temp(temp=restored)), self._set(switch)]
        if pops(place) and self.levels.depth(target):
            return [self._set(Switch(restored, goal))]
        return [*(self._note_handling() if splits(place) else []), self._set(goal)]

    def is_current(self, block: Block, exc: int) -> bool:
        """Return whether an exception is surely the one that is being handled in a block."""
        return self.levels.is_current(block, exc)

    def traced(self) -> list[ast.stmt]:
        """Return the statements that remove the traceback entry of a throw, if it is visible."""
        return [untraced()] if self.levels.gathers else []

    def end(self, place: Block) -> list[ast.stmt]:
        """Return the end of code that is not a function: a state without an arm."""
        return [self.states.set(len(self.numbers))]

    def _set(self, state: State) -> ast.stmt:
        return self.states.set(self.numbers[state])

    def _saved(self, pushing: Block, handled: ast.expr) -> list[ast.stmt]:
        """Return the statements that keep the previous exception being handled, if it will be restored."""
        if not pushes(pushing) or not self.levels.depth(pushing):
            return []
        marker = pushing.insts[0].defs[0]
        return [keep(marker, handled)] if marker in self.read else []

    # -- statements ---------------------------------------------------------------------------

    def run(self) -> list[ast.stmt]:
        """Return the first state and the loop."""
        level_0, level_1 = (self._arms(ways) for ways in self.ways)
        inside = self.states.choose(level_0)
        if any(way != Way(NOTHING, NOTHING) for ways in self.ways for way in ways):
            body = self._caught(0)
            if level_1:
                caught = self._handler(self._caught(1))
                body.append(self._while([attempt(self.states.choose(level_1), caught)], self.first))
            inside = [attempt(inside, self._handler(body))]
        return [*self.go(0, self.graph.block(0)), self._while(inside, 0)]

    def _while(self, body: list[ast.stmt], first: int) -> ast.stmt:
        test: ast.expr = ast.Constant(value=True)
        if first or not self.arms.is_function:
            test = self.states.within(first, len(self.numbers))
        return ast.While(test=test, body=body, orelse=[], lineno=0)

    def _handler(self, body: list[ast.stmt]) -> ast.ExceptHandler:
        return ast.ExceptHandler(type=None, name=None, body=body)

    def _arms(self, ways: dict[Way | Switch, list[State]]) -> list[Arm]:
        return [
            Arm(self.numbers[state], self.numbers[state] + 1, self._arm(state))
            for states in ways.values()
            for state in states
        ]

    def _arm(self, state: State) -> list[ast.stmt]:
        if isinstance(state, Switch):
            return [thrown(Temp(temp=state.exc))]
        block = self.graph.block(state)
        stmts = [entered(stmt) if isinstance(stmt, Enter) else stmt for stmt in self.arms.arm(block, block)]
        return stmts or [ast.Pass()]

    def _caught(self, level: int) -> list[ast.stmt]:
        """Return the statements for an exception that was raised on a level, by state."""
        arms = []
        for way, states in self.ways[level].items():
            if states:
                low = self.numbers[states[0]]
                arms.append(Arm(low, low + len(states), self._lead(level, way)))
        return self.states.choose(arms)

    def _lead(self, level: int, way: Way | Switch) -> list[ast.stmt]:
        """Return the statements that send a caught exception to its handler."""
        if isinstance(way, Switch):
            return [*self.traced(), *self._note_handling(), self._set(way.target)]
        if way.handler == NOTHING:
            return [ast.Raise(exc=None, cause=None, lineno=0)]
        entry = self.graph.handlers[way.handler]
        block, exc, moves = self._start(way.handler)
        is_handled = not level and pushes(block) and block.insts[0].uses[0] == exc
        stmts = [] if is_handled and entry.exc not in self.named else [keep(entry.exc, exception())]
        stmts = [*(self.traced() if way.thrown else []), *stmts, *moves]
        if is_handled:
            return [*stmts, *self._note_handling(), self._set(block.index)]
        if pushes(block):
            prior = self.handling if way.prior == NOTHING else way.prior
            switch = Switch(block.insts[0].uses[0], block.index)
            return [*stmts, *self._saved(block, Temp(temp=prior)), self._set(switch)]
        if way.prior != NOTHING:
            return [*stmts, self._set(Switch(way.prior, block.index))]
        return [*stmts, self._set(block.index)]

    def _start(self, handler: int) -> tuple[Block, int, Sequence[ast.stmt]]:
        """Return the start of a handler.

        These are its first block after those that only pass values on, the exception's name there, and the statements
        that pass the values on.
        """
        entry = self.graph.handlers[handler]
        block, exc = self.graph.block(entry.target), entry.exc
        moves: list[ast.stmt] = []
        seen = set()
        while all(inst.op == KEEP for inst in block.insts) and isinstance(block.exit, Goto):
            if block.index in seen:
                break
            seen.add(block.index)
            moves.extend(keep(cast(int, inst.arg), Temp(temp=inst.uses[0])) for inst in block.insts)
            edge = block.exit.edge
            moves.extend(item for item in jump_along(self.graph, edge) if isinstance(item, ast.stmt))
            exc = self._passed(edge, exc)
            block = self.graph.block(edge.target)
        return block, exc, moves

    def _passed(self, edge: Edge, temp: int) -> int:
        """Return the name of a temporary after an edge."""
        phis = [phi for phi, arg in zip(self.graph.block(edge.target).phis, edge.args) if arg == temp]
        return phis[0] if phis else temp

    def _note_handling(self) -> list[ast.stmt]:
        return [keep(self.handling, exception())] if self.shows_handling else []
