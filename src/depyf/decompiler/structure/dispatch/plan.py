"""The decisions before writing statements: which blocks have a state, and which temporaries a name."""

from __future__ import annotations

from depyf.decompiler.graph.tac import Block, Goto, Graph, Reraise
from depyf.decompiler.lift.keep import BOOKKEEPING
from depyf.decompiler.structure.dispatch.markers import PUSH
from depyf.decompiler.structure.dispatch.scopes import Role, Scope, Scopes
from depyf.decompiler.structure.dispatch.states import States, number


class Plan:
    """The decisions for one graph.

    withs: by block that enters a manager, the handler of the `with`.
    named: the temporaries that a statement names; exceptions that are only tested are not among them.
    numbers: the state of each block that has one.
    states: the variable that holds the state, by `with` statement (None: outside all).
    """

    def __init__(self, graph: Graph, scopes: Scopes, withs: dict[int, Block], uses: dict[int, int]) -> None:
        self.graph = graph
        self.scopes = scopes
        self.withs = {block.index: handler for handler, block in withs.items()}
        self.named = self._named()
        self.onward = self._onward(uses)
        self.numbers = number(scopes.root, self._numbered())
        self.states: dict[Scope | None, States] = {}

    def goal(self, index: int) -> int:
        """Return the first non-empty block on the way."""
        while index in self.onward:
            index = self.onward[index]
        return index

    def withs_around(self, scope: Scope | None) -> list[Scope]:
        """Return the bodies of the `with` statements around a scope, the innermost first."""
        withs = []
        while scope is not None:
            if scope.role is Role.WITH:
                withs.append(scope)
            scope = scope.parent
        return withs

    def state_of(self, scope: Scope) -> States:
        """Return the variable for the states of a scope.

        Each `with` has its own, so that the next state is known when the `with` suppresses an exception.
        """
        around = self.withs_around(scope)
        owner = around[0] if around else None
        if owner not in self.states:
            temp = self.graph.new_temp()
            self.graph.hints[temp] = "state"
            self.states[owner] = States(temp)
        return self.states[owner]

    def is_current(self, block: Block, exc: int) -> bool:
        """Return whether an exception is the one being handled in a block, or has just been caught there."""
        markers = self.scopes.markers
        if any(entry.exc == exc and entry.target == block.index for entry in self.graph.handlers):
            return True
        nest = markers.nest(block)
        return bool(nest) and exc in markers.exceptions[nest[-1]]

    def is_straight(self, handler: int) -> bool:
        """Return whether a handler re-raises its exception without ever marking it as being handled."""
        entry = self.graph.handlers[handler]
        exit_ = self.graph.block(entry.target).exit
        return isinstance(exit_, Reraise) and exit_.exc == entry.exc and self.scopes.bodies[handler].code is None

    def _named(self) -> set[int]:
        named: set[int] = set()
        for block in self.graph.live():
            for inst in block.insts:
                if inst.op not in BOOKKEEPING:
                    is_test = inst.op.startswith("CHECK_E") and self.is_current(block, inst.uses[0])
                    silent = 0 if is_test else 1 if inst.op == "WITH_EXCEPT_START" else -1
                    named.update(temp for place, temp in enumerate(inst.uses) if place != silent)
            if not (isinstance(block.exit, Reraise) and self.is_current(block, block.exit.exc)):
                named.update(block.exit.reads())
            for edge in block.exit.edges():
                named.update(edge.args)
        return named

    def _onward(self, uses: dict[int, int]) -> dict[int, int]:
        """Return the target of each empty block; a block that leaves a `with` is not empty."""
        defined = {temp for block in self.graph.live() for inst in block.insts for temp in inst.defs if inst.op != PUSH}
        dropped = {temp for temp in defined if not uses.get(temp)}
        onward: dict[int, int] = {}
        for block in self.graph.live():
            marks = block.insts and block.insts[0].op == PUSH
            if not isinstance(block.exit, Goto) or marks or block.exit.edge.args:
                continue
            target = block.exit.edge.target
            around, beyond = (self.withs_around(self.scopes.of.get(index)) for index in (block.index, target))
            if around == beyond and all(i.op in BOOKKEEPING and i.uses[0] not in dropped for i in block.insts):
                place = target
                while place in onward:
                    place = onward[place]
                if place != block.index:
                    # One block of an empty loop keeps its state.
                    onward[block.index] = place
        return onward

    def _numbered(self) -> set[int]:
        """Return the blocks that get a state: neither empty ones nor those written directly in an `except`."""
        graph = self.graph
        numbered = {self.goal(0)}
        for block in graph.live():
            if block.index not in self.onward:
                numbered.update(self.goal(edge.target) for edge in block.exit.edges())
        for handler, body in self.scopes.bodies.items():
            entry = graph.block(graph.handlers[handler].target)
            if body.role is Role.WITH:
                numbered.update(self.goal(edge.target) for edge in entry.exit.edges())
            elif body.code is not None:
                pushing = self.scopes.markers.pushing(handler)
                assert pushing is not None
                numbered.add(pushing.index)
            elif not self.is_straight(handler):
                numbered.add(self.goal(entry.index))
        return numbered
