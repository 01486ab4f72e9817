"""In which statement each block is written when control is dispatched.

A *scope* is a sequence of arms: the whole code, the body of a `try` or `with`, or the code of a handler, which is
written in the `except` of its `try`. A handler's code lies inside the `try` that protects it when it lets an exception
go; where a program's regions cross, a block that some other handler protects hands its exception over (`stray`).
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from depyf.errors import DecompilationError
from depyf.lift.tac import Block, Graph
from depyf.structure.dispatch.markers import Markers

SILENT = frozenset({"CONST", "POP", "POP_EXCEPT", "PUSH_EXC_INFO", "MOVE", "STORE_FAST"})


class Role(enum.Enum):
    """What statement a scope is the body of."""

    ROOT = "root"
    TRY = "try"
    WITH = "with"
    HANDLER = "handler"


@dataclass(slots=True, eq=False)
class Scope:
    """A sequence of arms.

    handlers: those that protect a TRY or WITH; for a HANDLER, those whose code it is.
    low, high: the range of the numbers of its blocks, those of the scopes inside included but for handlers and bodies
        of `with`, which have ranges of their own.
    """

    role: Role
    parent: Scope | None
    handlers: list[int] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)
    inner: list[Scope] = field(default_factory=list)
    code: Scope | None = None
    low: int = 0
    high: int = 0

    @property
    def loops(self) -> bool:
        """Say whether the scope has a loop of its own."""
        return self.role is not Role.TRY


class Scopes:
    """The scopes of a graph, and which one each block is in; `stray` blocks have a handler that is not theirs."""

    def __init__(self, graph: Graph, markers: Markers, withs: set[int]) -> None:
        self.graph = graph
        self.markers = markers
        self.withs = withs
        self.root = Scope(Role.ROOT, None)
        self.bodies: dict[int, Scope] = {}
        self.codes: dict[int, Scope] = {}
        self.of: dict[int, Scope] = {}
        self.stray: set[int] = set()
        self.used = sorted({block.handler for block in graph.live() if block.handler >= 0})
        self.outer = {handler: self._outer(handler) for handler in self.used}
        self._cut_cycles()
        order = sorted(self.used, key=lambda handler: (len(markers.outside(handler)), self._depth(handler)))
        for handler in order:
            self._open(handler)
        for block in graph.live():
            self._place(block)

    def _outer(self, handler: int) -> int:
        """Return the handler of the code of a handler."""
        pushing = self.markers.pushing(handler)
        block = pushing if pushing is not None else self.graph.block(self.graph.handlers[handler].target)
        return block.handler

    def _cut_cycles(self) -> None:
        """Let a handler that protects its own code be no part of a statement around itself."""
        for handler in self.used:
            seen = {handler}
            place = handler
            while self.outer.get(place, -1) >= 0:
                if self.outer[place] in seen:
                    self.outer[place] = -1
                    break
                place = self.outer[place]
                seen.add(place)

    def _depth(self, handler: int) -> int:
        depth = 0
        while handler >= 0:
            depth += 1
            handler = self.outer.get(handler, -1)
        return depth

    def _home(self, handler: int, nest: tuple[int, ...]) -> Scope:
        """Return the scope of what has this handler and nest."""
        if handler in self.bodies and self.markers.outside(handler) == nest:
            return self.bodies[handler]
        if not nest:
            return self.root
        if nest[-1] not in self.codes:
            reason = "an exception is being handled that no handler has caught"
            raise DecompilationError(reason, code=str(self.graph.code))
        return self.codes[nest[-1]]

    def _open(self, handler: int) -> None:
        """Make the scope that a handler protects, and that of its code."""
        parent = self._home(self.outer[handler], self.markers.outside(handler))
        pushing = self.markers.pushing(handler)
        marker = self.markers.of(pushing.insts[0].defs[0]) if pushing is not None else -1
        code = self.codes.get(marker)
        if code is not None:
            body = code.parent
            assert body is not None
            if body.parent is not parent:
                raise DecompilationError("handlers of different regions share code", code=str(self.graph.code))
            body.handlers.append(handler)
            self.bodies[handler] = body
            return
        body = Scope(Role.WITH if handler in self.withs else Role.TRY, parent, [handler])
        parent.inner.append(body)
        self.bodies[handler] = body
        if pushing is not None and body.role is Role.TRY:
            body.code = self.codes[marker] = Scope(Role.HANDLER, body, [handler])

    def _place(self, block: Block) -> None:
        nest = self.markers.nest(block)
        if nest and nest[-1] not in self.codes and any(block is self.markers.pushing(one) for one in self.withs):
            return
        scope = self._home(block.handler, nest)
        self.of[block.index] = scope
        scope.blocks.append(block.index)
        if block.handler != self.protection(scope, block.handler) and not all(i.op in SILENT for i in block.insts):
            self.stray.add(block.index)

    def protection(self, scope: Scope, wanted: int) -> int:
        """Return the handler to which an exception goes that is raised in a scope; `wanted` if it is one of several."""
        while scope.role is Role.HANDLER:
            assert scope.parent is not None and scope.parent.parent is not None
            scope = scope.parent.parent
        if scope.role is Role.ROOT:
            return -1
        return wanted if wanted in scope.handlers else scope.handlers[0]

    def all(self) -> list[Scope]:
        """Return all scopes, outer ones first."""
        found = [self.root]
        for scope in found:
            found.extend(scope.inner)
            found.extend([scope.code] if scope.code is not None else [])
        return found
