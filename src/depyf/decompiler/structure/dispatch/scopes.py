"""Assign each block to a statement for dispatch.

A *scope* is a sequence of arms: the whole code, the body of a `try` or `with`, or the code of a handler. A handler's
code is written in the `except` of its `try`. It is inside the outer `try` that protects it when an exception leaves it.
Regions that cross or share code have no such places: `levels` writes them.
"""

from __future__ import annotations

import enum
from dataclasses import field

from depyf.bytecode.records import dataclass
from depyf.decompiler.graph.tac import Block, Graph
from depyf.decompiler.structure.dispatch.markers import Markers
from depyf.decompiler.structure.unstructured import Unstructured

SILENT = frozenset({"CONST", "POP", "POP_EXCEPT", "PUSH_EXC_INFO", "MOVE", "STORE_FAST"})


class Role(enum.Enum):
    """The statement whose body a scope is."""

    ROOT = "root"
    TRY = "try"
    WITH = "with"
    HANDLER = "handler"


@dataclass(slots=True, eq=False)
class Scope:
    """A sequence of arms.

    handler: the one that protects a TRY or WITH; for a HANDLER, the one whose code it is; -1 for the ROOT.
    low, high: the range of the numbers of its blocks. It includes the scopes inside, except handlers and `with` bodies,
        which have ranges of their own.
    """

    role: Role
    parent: Scope | None
    handler: int = -1
    blocks: list[int] = field(default_factory=list)
    inner: list[Scope] = field(default_factory=list)
    code: Scope | None = None
    low: int = 0
    high: int = 0


class Scopes:
    """The scopes of a graph, and the scope of each block.

    Raises Unstructured if a block has no place in a scope that protects it.
    """

    def __init__(self, graph: Graph, markers: Markers, withs: set[int]) -> None:
        self.graph = graph
        self.markers = markers
        self.withs = withs
        self.root = Scope(Role.ROOT, None)
        self.bodies: dict[int, Scope] = {}
        self.codes: dict[int, Scope] = {}
        self.of: dict[int, Scope] = {}
        self.used = sorted({block.handler for block in graph.live() if block.handler >= 0})
        self.outer = {handler: self._outer(handler) for handler in self.used}
        self._check_cycles()
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

    def _check_cycles(self) -> None:
        for handler in self.used:
            seen = {handler}
            place = self.outer[handler]
            while place >= 0:
                if place in seen:
                    raise Unstructured("a handler protects its own code")
                seen.add(place)
                place = self.outer.get(place, -1)

    def _depth(self, handler: int) -> int:
        depth = 0
        while handler >= 0:
            depth += 1
            handler = self.outer.get(handler, -1)
        return depth

    def _home(self, handler: int, nest: tuple[int, ...]) -> Scope:
        """Return the scope for a handler and a nest."""
        if handler in self.bodies and self.markers.outside(handler) == nest:
            return self.bodies[handler]
        if not nest:
            return self.root
        if nest[-1] not in self.codes:
            raise Unstructured("an exception is being handled that no handler has caught")
        return self.codes[nest[-1]]

    def _open(self, handler: int) -> None:
        """Make the scope that a handler protects, and the scope of the handler's code."""
        parent = self._home(self.outer[handler], self.markers.outside(handler))
        pushing = self.markers.pushing(handler)
        marker = self.markers.of(pushing.insts[0].defs[0]) if pushing is not None else -1
        if marker in self.codes:
            raise Unstructured("handlers share code")
        body = Scope(Role.WITH if handler in self.withs else Role.TRY, parent, handler)
        parent.inner.append(body)
        self.bodies[handler] = body
        if pushing is not None and body.role is Role.TRY:
            body.code = self.codes[marker] = Scope(Role.HANDLER, body, handler)

    def _place(self, block: Block) -> None:
        nest = self.markers.nest(block)
        if (
            nest
            and nest[-1] not in self.codes
            and any(block is self.markers.pushing(handler) for handler in self.withs)
        ):
            return
        scope = self._home(block.handler, nest)
        self.of[block.index] = scope
        scope.blocks.append(block.index)
        if block.handler != self.protection(scope) and not all(inst.op in SILENT for inst in block.insts):
            raise Unstructured("a block is outside its protecting statement")

    def protection(self, scope: Scope) -> int:
        """Return the handler of exceptions that are raised in a scope."""
        while scope.role is Role.HANDLER:
            assert scope.parent is not None and scope.parent.parent is not None
            scope = scope.parent.parent
        return scope.handler

    def all(self) -> list[Scope]:
        """Return all scopes, outer ones first."""
        scopes = [self.root]
        for scope in scopes:
            scopes.extend(scope.inner)
            scopes.extend([scope.code] if scope.code is not None else [])
        return scopes
