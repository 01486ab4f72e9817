"""Write the blocks of a graph as arms of a dispatch: statements that end by going to a state, returning or raising."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from depyf.bytecode.code import CO_OPTIMIZED
from depyf.bytecode.known import ENTER, ENTER_ASYNC, THROW
from depyf.bytecode.known_groups import UNTRACE
from depyf.decompiler.graph.tac import Block, Edge, ForIter, Graph
from depyf.decompiler.lift.nodes import ExcMatch, MatchTest, Object, Temp, literal_value
from depyf.decompiler.structure.nodes import items_of, jump_along
from depyf.decompiler.structure.tree import Enter, If, Item, Jump, ReraiseStmt

Finish = Callable[[list[ast.stmt]], list[ast.stmt]]
"""Makes statements from a test for patterns."""
Place = TypeVar("Place", contravariant=True)


class Guide(Protocol[Place]):
    """The knowledge of a form of dispatch; a place is the position of an arm."""

    def go(self, index: int, place: Place) -> list[ast.stmt]:
        """Return the statements that go to a block."""

    def is_current(self, block: Block, exc: int) -> bool:
        """Return whether an exception is the one that is being handled in a block."""

    def traced(self) -> list[ast.stmt]:
        """Return the statements after catching an exception that was thrown only to become current."""

    def end(self, place: Place) -> list[ast.stmt]:
        """Return the statements that end code that is not a function."""


class Arms(Generic[Place]):
    """Makes the statements of blocks."""

    def __init__(self, graph: Graph, uses: dict[int, int], finish: Finish, guide: Guide[Place]) -> None:
        self.graph = graph
        self.uses = uses
        self.finish = finish
        self.guide = guide
        self.is_function = bool(graph.code.flags & CO_OPTIMIZED)

    def arm(self, block: Block, place: Place) -> list[ast.stmt]:
        """Return the statements of a block and its exit."""
        items = items_of(self.graph, block, self.uses)
        if isinstance(block.exit, ForIter):
            items.append(self._for(block.exit, place))
        return [stmt for item in items for stmt in self._item(item, block, place)]

    def along(self, edge: Edge, place: Place) -> list[ast.stmt]:
        """Return the statements for an edge."""
        return self._simple(jump_along(self.graph, edge), place)

    def _item(self, item: Item, block: Block, place: Place) -> list[ast.stmt]:
        if isinstance(item, If):
            body, orelse = self._simple(item.body, place), self._simple(item.orelse, place)
            if isinstance(item.test, ExcMatch):
                return [self._tested(item.test, body, orelse, block)]
            stmt = ast.If(test=item.test, body=body, orelse=orelse, lineno=item.line or 0)
            return self.finish([stmt]) if _matches(item.test) else [stmt]
        if isinstance(item, Jump):
            return self.guide.go(item.label, place)
        if isinstance(item, ReraiseStmt):
            return [self._raise_again(Temp(temp=item.exc), block)]
        if isinstance(item, ast.Return) and literal_value(item.value) is None:
            item.value = None
        if isinstance(item, ast.Return) and not self.is_function:
            return self.guide.end(place)
        if isinstance(item, ast.Assign) and isinstance(item.value, ExcMatch):
            ways = [ast.Assign(targets=item.targets, value=ast.Constant(value=way), lineno=0) for way in (True, False)]
            return [self._tested(item.value, [ways[0]], [ways[1]], block)]
        assert isinstance(item, ast.stmt)
        return [item]

    def _raise_again(self, exc: ast.expr, block: Block) -> ast.stmt:
        """Raise an exception unchanged. A bare `raise` raises only the current one; `raise x` sets the context of x."""
        if isinstance(exc, Temp) and self.guide.is_current(block, exc.temp):
            return ast.Raise(exc=None, cause=None, lineno=0)
        return thrown(exc)

    def _tested(self, test: ExcMatch, body: list[ast.stmt], orelse: list[ast.stmt], block: Block) -> ast.stmt:
        """Test an exception as an `except` clause does: by raising it again."""
        again = self._raise_again(test.exc, block)
        caught = [] if isinstance(again, ast.Raise) else self.guide.traced()
        matched = ast.ExceptHandler(type=test.type, name=None, body=[*caught, *body])
        other = ast.ExceptHandler(type=None, name=None, body=[*caught, *orelse])
        return attempt([again], matched, other)

    def _for(self, exit_: ForIter, place: Place) -> ast.stmt:
        """Take one value: a `for` that breaks at once, or whose `else` runs if there is none."""
        kind = ast.AsyncFor if exit_.is_async else ast.For
        return kind(
            target=Temp(temp=exit_.value),
            iter=Temp(temp=exit_.iterator),
            body=[*self.along(exit_.body, place), ast.Break()],
            orelse=self.along(exit_.done, place),
            lineno=exit_.line or 0,
        )

    def _simple(self, items: list[Item], place: Place) -> list[ast.stmt]:
        """Return the statements for the items of an edge."""
        stmts: list[ast.stmt] = []
        for item in items:
            if isinstance(item, Jump):
                stmts.extend(self.guide.go(item.label, place))
            elif isinstance(item, ast.stmt):
                stmts.append(item)
        return stmts


def _matches(test: ast.expr) -> bool:
    return any(isinstance(node, MatchTest) for node in ast.walk(test))


def attempt(body: list[ast.stmt], *clauses: ast.ExceptHandler) -> ast.stmt:
    """Return a `try` with clauses."""
    return ast.Try(body=body, handlers=list(clauses), orelse=[], finalbody=[], lineno=0)


def keep(temp: int, value: ast.expr) -> ast.stmt:
    """Return the statement that gives a temporary a value."""
    return ast.Assign(targets=[Temp(temp=temp)], value=value, lineno=0)


def exception() -> ast.expr:
    """Return the exception that is being handled."""
    call = ast.Call(func=Object(value=sys.exc_info), args=[], keywords=[])
    return ast.Subscript(value=call, slice=ast.Constant(value=1), ctx=ast.Load())


def thrown(exc: ast.expr) -> ast.stmt:
    """Return the statement that raises an exception without changing its context."""
    return ast.Expr(value=ast.Call(func=Object(value=THROW), args=[exc], keywords=[]), lineno=0)


def untraced() -> ast.stmt:
    """Return the statement that removes the traceback entry of a throw."""
    return ast.Expr(value=ast.Call(func=Object(value=UNTRACE), args=[], keywords=[]), lineno=0)


def entered(enter: Enter) -> ast.stmt:
    """Return the statement that enters a manager and keeps its exit."""
    function = Object(value=ENTER_ASYNC if enter.is_async else ENTER)
    names = ast.Tuple(elts=[Temp(temp=enter.exit), Temp(temp=enter.value)], ctx=ast.Store())
    value = ast.Call(func=function, args=[enter.manager], keywords=[])
    return ast.Assign(targets=[names], value=value, lineno=enter.lineno)
