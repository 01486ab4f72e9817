"""Write the scopes of a graph as statements."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from depyf.decompiler.graph.tac import Block, Goto, Graph
from depyf.decompiler.lift.nodes import Object, Temp
from depyf.decompiler.structure.dispatch.arms import Arms, Finish, attempt, exception, keep
from depyf.decompiler.structure.dispatch.plan import Plan
from depyf.decompiler.structure.dispatch.scopes import Role, Scope
from depyf.decompiler.structure.dispatch.states import Arm
from depyf.decompiler.structure.labels import WithStmt
from depyf.decompiler.structure.nodes import jump_along
from depyf.decompiler.structure.tree import Enter
from depyf.decompiler.structure.unstructured import Unstructured


class Writer:
    """Makes the statements of a plan.

    finish: makes statements from a test for patterns.
    """

    def __init__(self, graph: Graph, plan: Plan, uses: dict[int, int], finish: Finish) -> None:
        self.graph = graph
        self.plan = plan
        self.scopes = plan.scopes
        self.arms = Arms(graph, uses, finish, self)

    def run(self) -> list[ast.stmt]:
        """Return the first state and the loops."""
        return self._loop(self.scopes.root, 0)

    def go(self, index: int, place: Scope) -> list[ast.stmt]:
        """Return the statement that goes from a scope to a block; it leaves every `with` without that block."""
        plan = self.plan
        goal = plan.goal(index)
        to = self.scopes.of[goal]
        if not set(_handlers_around(to)) <= set(_handlers_around(place)):
            raise Unstructured("the code of a handler is entered by a jump")
        around = plan.withs_around(to)
        left = [plan.state_of(inner) for inner in plan.withs_around(place) if inner not in around]
        return [plan.state_of(to).set(plan.numbers[goal], left)]

    def is_current(self, block: Block, exc: int) -> bool:
        """Return whether an exception is the one that is being handled in a block."""
        return self.plan.is_current(block, exc)

    def traced(self) -> list[ast.stmt]:
        """Return no statements: code that gathers groups, which depends on tracebacks, is not written in scopes."""
        return []

    def end(self, place: Scope) -> list[ast.stmt]:
        """Return the end of code that is not a function: a state without an arm."""
        plan = self.plan
        if len(plan.numbers) == 1:
            return []
        left = [plan.state_of(inner) for inner in plan.withs_around(place)]
        return [plan.state_of(self.scopes.root).set(len(plan.numbers), left)]

    # -- scopes ------------------------------------------------------------------------------

    def _loop(self, scope: Scope, entry: int) -> list[ast.stmt]:
        """Return the statements of a scope with its own loop, entered at a block."""
        arms = self._arms(scope)
        if len(arms) == 1 and arms[0].high == arms[0].low + 1 and not self._comes_back(scope):
            return arms[0].stmts
        return [*self.go(entry, scope), self._while(scope, arms)]

    def _while(self, scope: Scope, arms: list[Arm]) -> ast.stmt:
        states = self.plan.state_of(scope)
        test = states.within(scope.low, scope.high)
        if scope.role is Role.ROOT and self.arms.is_function:
            test = ast.Constant(value=True)
        return ast.While(test=test, body=states.choose(arms), orelse=[], lineno=0)

    def _comes_back(self, scope: Scope) -> bool:
        mine = [self.graph.block(index) for index in scope.blocks if index in self.plan.numbers]
        return any(self.plan.goal(edge.target) == block.index for block in mine for edge in block.exit.edges())

    def _arms(self, scope: Scope) -> list[Arm]:
        """Return the arms of a scope: its blocks, then the `try` statements in it."""
        arms = []
        for index in scope.blocks:
            if index in self.plan.numbers:
                place = self.plan.numbers[index]
                arms.append(Arm(place, place + 1, self._arm(self.graph.block(index), scope)))
        inside = [inner for inner in scope.inner if inner.role is Role.TRY and inner.low < inner.high]
        return arms + [Arm(inner.low, inner.high, [self._try(inner)]) for inner in inside]

    def _try(self, scope: Scope) -> ast.stmt:
        """Return a `try`, with its handler's code in its `except`."""
        target = self.graph.block(self.graph.handlers[scope.handler].target)
        kind = None
        if _ends_async_for(target):
            kind = Object(value=StopAsyncIteration)
            body = self.go(target.index, scope)
        elif scope.code is not None:
            body = self._entered(scope, scope.code)
        else:
            body = [*self._caught(scope.handler), *self._plain(target, scope)]
        clause = ast.ExceptHandler(type=kind, name=None, body=body)
        inside = self.plan.state_of(scope).choose(self._arms(scope))
        return attempt(inside, clause)

    def _plain(self, target: Block, scope: Scope) -> list[ast.stmt]:
        """Return the statements of a handler that does not mark its exception as being handled."""
        if self.plan.goal(target.index) in self.plan.numbers:
            return self.go(target.index, scope)
        return self._arm(target, scope)

    def _entered(self, scope: Scope, code: Scope) -> list[ast.stmt]:
        """Return the code of the handler of a `try`."""
        pushing = self.scopes.markers.pushing(scope.handler)
        assert pushing is not None
        moves: list[ast.stmt] = self._caught(scope.handler)
        block = self.graph.block(self.graph.handlers[scope.handler].target)
        while block is not pushing:
            assert isinstance(block.exit, Goto)
            moves.extend(item for item in jump_along(self.graph, block.exit.edge) if isinstance(item, ast.stmt))
            block = self.graph.block(block.exit.edge.target)
        return [*moves, *self._loop(code, pushing.index)]

    def _caught(self, handler: int) -> list[ast.stmt]:
        """Return the statement that keeps the caught exception, if it has uses."""
        exc = self.graph.handlers[handler].exc
        return [keep(exc, exception())] if exc in self.plan.named else []

    # -- blocks ------------------------------------------------------------------------------

    def _arm(self, block: Block, scope: Scope) -> list[ast.stmt]:
        """Return the statements of a block, and its exit."""
        if _ends_async_for(block):  # Its `except` has the operation.
            block = replace(block, insts=block.insts[1:])
        stmts = self.arms.arm(block, scope)
        if block.index in self.plan.withs:
            stmts = self._with(stmts, self.plan.withs[block.index], scope)
        elif any(isinstance(stmt, Enter) for stmt in stmts):
            raise Unstructured("a manager is entered, and not left as a `with` statement does")
        return stmts

    def _with(self, stmts: list[ast.stmt], handler: int, scope: Scope) -> list[ast.stmt]:
        """Put the scope of a `with` after the statement that enters it."""
        place = max(number for number, stmt in enumerate(stmts) if isinstance(stmt, Enter))
        enter = stmts[place]
        assert isinstance(enter, Enter)
        value = enter.value
        if enter.is_async:
            place += 1
            awaited = stmts[place]
            target = awaited.targets[0] if isinstance(awaited, ast.Assign) else None
            value = target.temp if isinstance(target, Temp) else value
        body = self.scopes.bodies[handler]
        suppressed = self.graph.block(self.graph.handlers[handler].target).exit
        assert isinstance(suppressed, Goto)
        # Where control continues after an exception that the manager has suppressed.
        start = self.arms.along(suppressed.edge, scope)
        named = [keep(value, Temp(temp=value))] if value in self.plan.named else []
        inside = [*named, *start, *stmts[place + 1 :], self._while(body, self._arms(body))]
        return [*stmts[: place + 1], WithStmt(body=inside, exit=enter.exit, lineno=enter.lineno)]


def _ends_async_for(block: Block) -> bool:
    """Return whether a block begins with the operation that ends an `async for`."""
    return [inst.op for inst in block.insts[:1]] == ["END_ASYNC_FOR"]


def _handlers_around(scope: Scope | None) -> Iterator[Scope]:
    """Yield the handlers whose code contains a scope."""
    while scope is not None:
        if scope.role is Role.HANDLER:
            yield scope
        scope = scope.parent
