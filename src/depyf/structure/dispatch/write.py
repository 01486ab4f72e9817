"""Write the scopes of a graph as statements."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator

from depyf.bytecode.code import CO_OPTIMIZED
from depyf.errors import DecompilationError
from depyf.lift.nodes import ExcMatch, MatchTest, Object, Temp, literal_value
from depyf.lift.tac import Block, Edge, ForIter, Goto, Graph, edges
from depyf.structure.dispatch.plan import Plan
from depyf.structure.dispatch.scopes import Role, Scope
from depyf.structure.dispatch.states import Arm
from depyf.structure.labels import WithStmt
from depyf.structure.nodes import items_of, jump_along
from depyf.structure.tree import Enter, If, Item, Jump, ReraiseStmt

Finish = Callable[[list[ast.stmt]], list[ast.stmt]]


class Writer:
    """Makes the statements of a plan.

    finish: makes statements of a test for patterns.
    """

    def __init__(self, graph: Graph, plan: Plan, uses: dict[int, int], finish: Finish) -> None:
        self.graph = graph
        self.plan = plan
        self.scopes = plan.scopes
        self.uses = uses
        self.finish = finish
        self.is_function = bool(graph.code.flags & CO_OPTIMIZED)

    def run(self) -> list[ast.stmt]:
        """Return the first state and the loops."""
        return self._loop(self.scopes.root, 0)

    def _go(self, index: int, scope: Scope) -> ast.stmt:
        """Return the statement that goes from a scope to a block; it leaves every `with` that the block is not in."""
        plan = self.plan
        goal = plan.goal(index)
        to = self.scopes.of[goal]
        if not set(_handlers_around(to)) <= set(_handlers_around(scope)):
            raise DecompilationError("the code of a handler is entered by a jump", code=str(self.graph.code))
        around = plan.withs_around(to)
        left = [plan.state_of(inner) for inner in plan.withs_around(scope) if inner not in around]
        return plan.state_of(to).set(plan.numbers[goal], left)

    # -- scopes ------------------------------------------------------------------------------

    def _loop(self, scope: Scope, entry: int) -> list[ast.stmt]:
        """Return the statements of a scope that has a loop of its own, entered at a block."""
        arms = self._arms(scope)
        if len(arms) == 1 and arms[0].high == arms[0].low + 1 and not self._comes_back(scope):
            return arms[0].stmts
        return [self._go(entry, scope), self._while(scope, arms)]

    def _while(self, scope: Scope, arms: list[Arm]) -> ast.stmt:
        states = self.plan.state_of(scope)
        test = states.within(scope.low, scope.high)
        if scope.role is Role.ROOT and self.is_function:
            test = ast.Constant(value=True)
        return ast.While(test=test, body=states.choose(arms), orelse=[], lineno=0)

    def _comes_back(self, scope: Scope) -> bool:
        mine = [self.graph.block(index) for index in scope.blocks if index in self.plan.numbers]
        return any(self.plan.goal(edge.target) == block.index for block in mine for edge in edges(block.exit))

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
        target = self.graph.block(self.graph.handlers[scope.handlers[0]].target)
        kind = None
        if target.insts and target.insts[0].op == "END_ASYNC_FOR":
            kind = Object(value=StopAsyncIteration)
            body = [self._go(target.index, scope)]
        elif scope.code is not None:
            body = self._entered(scope, scope.code)
        else:
            body = [*self._caught(scope.handlers[0]), *self._plain(target, scope)]
        clause = ast.ExceptHandler(type=kind, name=None, body=body or [ast.Pass()])
        inside = self.plan.state_of(scope).choose(self._arms(scope))
        return _try(inside, clause)

    def _plain(self, target: Block, scope: Scope) -> list[ast.stmt]:
        """Return what is done for a handler that is not said to be handling its exception."""
        if target.index in self.plan.numbers:
            return [self._go(target.index, scope)]
        return self._arm(target, scope)

    def _entered(self, scope: Scope, code: Scope) -> list[ast.stmt]:
        """Return the code of the handlers of a `try`, entered for the one that protects the block that has raised."""
        starts = []
        for handler in scope.handlers:
            pushing = self.scopes.markers.pushing(handler)
            assert pushing is not None
            moves: list[ast.stmt] = self._caught(handler)
            block = self.graph.block(self.graph.handlers[handler].target)
            while block is not pushing:
                assert isinstance(block.exit, Goto)
                moves.extend(item for item in jump_along(self.graph, block.exit.edge) if isinstance(item, ast.stmt))
                block = self.graph.block(block.exit.edge.target)
            starts.append((handler, moves, pushing))
        if len(starts) == 1:
            return [*starts[0][1], *self._loop(code, starts[0][2].index)]
        return [*self._start(starts, scope, code), self._while(code, self._arms(code))]

    def _start(self, starts: list[tuple[int, list[ast.stmt], Block]], scope: Scope, code: Scope) -> list[ast.stmt]:
        """Return the choice between the starts of several handlers that share code."""
        numbers, states = self.plan.numbers, self.plan.state_of(scope)
        rest: list[ast.stmt] = []
        for handler, moves, pushing in reversed(starts):
            chosen = [*moves, self._go(pushing.index, code)]
            mine = [numbers[index] for index in scope.blocks if index in numbers and self._handler(index) == handler]
            tests = [states.test(ast.Eq(), place) for place in mine] or [ast.Constant(value=False)]
            test = tests[0] if len(tests) == 1 else ast.BoolOp(op=ast.Or(), values=tests)
            rest = [ast.If(test=test, body=chosen, orelse=rest, lineno=0)] if rest else chosen
        return rest

    def _handler(self, index: int) -> int:
        return -1 if index in self.plan.raising else self.graph.block(index).handler

    def _caught(self, handler: int) -> list[ast.stmt]:
        """Return the statement that keeps the exception that was caught, where something names it."""
        exc = self.graph.handlers[handler].exc
        return [_keep(exc, _exception())] if exc in self.plan.named else []

    # -- blocks ------------------------------------------------------------------------------

    def _arm(self, block: Block, scope: Scope) -> list[ast.stmt]:
        """Return the statements of a block, and where it goes."""
        if block.insts and block.insts[0].op == "END_ASYNC_FOR":
            block.insts = block.insts[1:]
        items = items_of(self.graph, block, self.uses)
        if isinstance(block.exit, ForIter):
            items.append(self._for(block.exit, scope))
        stmts = [stmt for item in items for stmt in self._item(item, block, scope)]
        if block.index in self.plan.withs:
            stmts = self._with(stmts, self.plan.withs[block.index], scope)
        else:
            stmts = [part for stmt in stmts for part in (self._enter(stmt) if isinstance(stmt, Enter) else [stmt])]
        stmts = stmts or [ast.Pass()]
        if block.index in self.plan.raising:
            target, exc = self.plan.raising[block.index]
            keep = [_keep(exc, _exception()), self._go(target, scope)]
            stmts = [_try(stmts, ast.ExceptHandler(type=None, name=None, body=keep))]
        return stmts

    def _item(self, item: Item, block: Block, scope: Scope) -> list[ast.stmt]:
        if isinstance(item, If):
            body, orelse = self._simple(item.body, scope), self._simple(item.orelse, scope)
            if isinstance(item.test, ExcMatch):
                return [self._tested(item.test, body, orelse, block)]
            stmt = ast.If(test=item.test, body=body, orelse=orelse, lineno=item.line or 0)
            return self.finish([stmt]) if _matches(item.test) else [stmt]
        if isinstance(item, Jump):
            return [self._go(item.label, scope)]
        if isinstance(item, ReraiseStmt):
            is_current = self.plan.is_current(block, item.exc)
            return [ast.Raise(exc=None if is_current else Temp(temp=item.exc), cause=None, lineno=0)]
        if isinstance(item, ast.Return) and literal_value(item.value) is None:
            item.value = None
        if isinstance(item, ast.Return) and not self.is_function:
            if len(self.plan.numbers) == 1:
                return []
            left = [self.plan.state_of(inner) for inner in self.plan.withs_around(scope)]
            return [self.plan.state_of(self.scopes.root).set(len(self.plan.numbers), left)]
        if isinstance(item, ast.Assign) and isinstance(item.value, ExcMatch):
            ways = [ast.Assign(targets=item.targets, value=ast.Constant(value=way), lineno=0) for way in (True, False)]
            return [self._tested(item.value, [ways[0]], [ways[1]], block)]
        assert isinstance(item, ast.stmt)
        return [item]

    def _tested(self, test: ExcMatch, body: list[ast.stmt], orelse: list[ast.stmt], block: Block) -> ast.stmt:
        """Test an exception as an `except` clause does: by raising it once more."""
        exc = test.exc
        is_current = isinstance(exc, Temp) and self.plan.is_current(block, exc.temp)
        matched = ast.ExceptHandler(type=test.type, name=None, body=body)
        other = ast.ExceptHandler(type=None, name=None, body=orelse)
        return _try([ast.Raise(exc=None if is_current else exc, cause=None, lineno=0)], matched, other)

    def _for(self, exit_: ForIter, scope: Scope) -> ast.stmt:
        """Take one value: a `for` that is left at once, or whose `else` runs when there is none."""
        kind = ast.AsyncFor if exit_.is_async else ast.For
        return kind(
            target=Temp(temp=exit_.value),
            iter=Temp(temp=exit_.iterator),
            body=[*self._along(exit_.body, scope), ast.Break()],
            orelse=self._along(exit_.done, scope),
            lineno=exit_.line or 0,
        )

    def _along(self, edge: Edge, scope: Scope) -> list[ast.stmt]:
        return self._simple(jump_along(self.graph, edge), scope)

    def _simple(self, items: list[Item], scope: Scope) -> list[ast.stmt]:
        """Return what is done along an edge as statements."""
        return [
            self._go(item.label, scope) if isinstance(item, Jump) else item
            for item in items
            if isinstance(item, (Jump, ast.stmt))
        ]

    def _with(self, stmts: list[ast.stmt], handler: int, scope: Scope) -> list[ast.stmt]:
        """Put the scope of a `with` behind the statement that enters it."""
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
        # Where control goes on after an exception that the manager has suppressed.
        start = self._along(suppressed.edge, scope)
        named = [_keep(value, Temp(temp=value))] if value in self.plan.named else []
        inside = [*named, *start, *stmts[place + 1 :], self._while(body, self._arms(body))]
        return [*stmts[: place + 1], WithStmt(body=inside, exit=enter.exit, lineno=enter.lineno)]

    def _enter(self, enter: Enter) -> list[ast.stmt]:
        """Enter a manager by hand: what leaves it is no `with` statement's end."""
        manager = Temp(temp=self.graph.new_temp())
        names = ("__aenter__", "__aexit__") if enter.is_async else ("__enter__", "__exit__")
        entered, left = (ast.Attribute(value=manager, attr=name, ctx=ast.Load()) for name in names)
        call = ast.Call(func=entered, args=[], keywords=[])
        pairs = [(manager, enter.manager), (Temp(temp=enter.exit), left), (Temp(temp=enter.value), call)]
        return [ast.Assign(targets=[target], value=value, lineno=enter.lineno) for target, value in pairs]


def _handlers_around(scope: Scope | None) -> Iterator[Scope]:
    """Yield the handlers in whose code a scope lies."""
    while scope is not None:
        if scope.role is Role.HANDLER:
            yield scope
        scope = scope.parent


def _matches(test: ast.expr) -> bool:
    return any(isinstance(node, MatchTest) for node in ast.walk(test))


def _try(body: list[ast.stmt], *clauses: ast.ExceptHandler) -> ast.stmt:
    return ast.Try(body=body, handlers=list(clauses), orelse=[], finalbody=[], lineno=0)


def _keep(temp: int, value: ast.expr) -> ast.stmt:
    return ast.Assign(targets=[Temp(temp=temp)], value=value, lineno=0)


def _exception() -> ast.expr:
    """Return the exception that is being handled."""
    call = ast.Call(func=Object(value=sys.exc_info), args=[], keywords=[])
    return ast.Subscript(value=call, slice=ast.Constant(value=1), ctx=ast.Load())
