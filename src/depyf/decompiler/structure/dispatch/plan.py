"""What is decided before a statement is written: which blocks have a state, and which temporaries a name."""

from __future__ import annotations

from depyf.decompiler.graph.tac import Block, Goto, Graph, Reraise
from depyf.decompiler.lift.keep import BOOKKEEPING
from depyf.decompiler.structure.dispatch.markers import PUSH
from depyf.decompiler.structure.dispatch.scopes import Role, Scope, Scopes
from depyf.decompiler.structure.dispatch.states import States, number


class Plan:
    """The decisions for one graph.

    withs: by block that enters a manager, the handler of the `with`.
    named: the temporaries that some statement names; exceptions that are only tested are not among them.
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
        """Return the block that is reached past those that do nothing."""
        while index in self.onward:
            index = self.onward[index]
        return index

    def withs_around(self, scope: Scope | None) -> list[Scope]:
        """Return the bodies of `with` statements that a scope lies in, the innermost first."""
        found = []
        while scope is not None:
            if scope.role is Role.WITH:
                found.append(scope)
            scope = scope.parent
        return found

    def state_of(self, scope: Scope) -> States:
        """Return the variable for the states of a scope: each `with` has its own, so that it is plain where control
        goes on when the `with` is left by an exception that it suppresses."""
        around = self.withs_around(scope)
        owner = around[0] if around else None
        if owner not in self.states:
            temp = self.graph.new_temp()
            self.graph.hints[temp] = "state"
            self.states[owner] = States(temp)
        return self.states[owner]

    def is_current(self, block: Block, exc: int) -> bool:
        """Return whether an exception is the one that is being handled in a block, or that has led to it just now."""
        markers = self.scopes.markers
        if any(entry.exc == exc and entry.target == block.index for entry in self.graph.handlers):
            return True
        nest = markers.nest(block)
        return bool(nest) and exc in markers.exceptions[nest[-1]]

    def is_straight(self, handler: int) -> bool:
        """Return whether a handler raises its exception again without ever being said to handle it."""
        entry = self.graph.handlers[handler]
        exit_ = self.graph.block(entry.target).exit
        return isinstance(exit_, Reraise) and exit_.exc == entry.exc and self.scopes.bodies[handler].code is None

    def _named(self) -> set[int]:
        found: set[int] = set()
        for block in self.graph.live():
            for inst in block.insts:
                if inst.op not in BOOKKEEPING:
                    is_test = inst.op.startswith("CHECK_E") and self.is_current(block, inst.uses[0])
                    silent = 0 if is_test else 1 if inst.op == "WITH_EXCEPT_START" else -1
                    found.update(temp for place, temp in enumerate(inst.uses) if place != silent)
            if not (isinstance(block.exit, Reraise) and self.is_current(block, block.exit.exc)):
                found.update(block.exit.reads())
            for edge in block.exit.edges():
                found.update(edge.args)
        return found

    def _onward(self, uses: dict[int, int]) -> dict[int, int]:
        """Return by block that does nothing where it leads; one that leaves a `with` does that."""
        made = {temp for block in self.graph.live() for inst in block.insts for temp in inst.defs if inst.op != PUSH}
        dropped = {temp for temp in made if not uses.get(temp)}
        found: dict[int, int] = {}
        for block in self.graph.live():
            is_start = block.index in self.withs or (block.insts and block.insts[0].op == PUSH)
            if not isinstance(block.exit, Goto) or is_start or block.exit.edge.args:
                continue
            target = block.exit.edge.target
            around, beyond = (self.withs_around(self.scopes.of.get(index)) for index in (block.index, target))
            if around == beyond and all(i.op in BOOKKEEPING and i.uses[0] not in dropped for i in block.insts):
                place = target
                while place in found:
                    place = found[place]
                if place != block.index:
                    # One block of a loop that does nothing keeps its state.
                    found[block.index] = place
        return found

    def _numbered(self) -> set[int]:
        """Return the blocks that get a state: not those that are written in an `except` that they are the start of,
        and not those that do nothing."""
        graph = self.graph
        found = {self.goal(0)}
        for block in graph.live():
            if block.index not in self.onward:
                found.update(self.goal(edge.target) for edge in block.exit.edges())
        for handler, body in self.scopes.bodies.items():
            entry = graph.block(graph.handlers[handler].target)
            if body.role is Role.WITH:
                found.update(self.goal(edge.target) for edge in entry.exit.edges())
            elif body.code is not None:
                pushing = self.scopes.markers.pushing(handler)
                assert pushing is not None
                found.add(pushing.index)
            elif not self.is_straight(handler):
                found.add(self.goal(entry.index))
        return found
