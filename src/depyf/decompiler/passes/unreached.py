"""Traces of unreachable code: the compiler drops the code, but keeps its effect on the scope of names.

Before: x = 1; return x          (but x is a cell, and no function takes it)
After:  if False:
            lambda: x
        x = 1; return x
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from collections.abc import Set as AbstractSet

from depyf.bytecode.code import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR, CO_OPTIMIZED, Code
from depyf.bytecode.listing import Listing
from depyf.bytecode.records import dataclass
from depyf.decompiler.lift.nodes import LOAD, Cell, Var, literal
from depyf.decompiler.passes.walk import of_kinds
from depyf.decompiler.steps import step

IMPLIED = frozenset({"__classdict__", "__conditional_annotations__"})
"""Variables of lazily evaluated code: no statement names them."""
NO_NAMES: frozenset[str] = frozenset()
YIELDS = frozenset({"YIELD", "YIELD_FROM", "SEND"})
AWAITS = frozenset({"GET_AWAITABLE", "GET_ANEXT"})


@dataclass(frozen=True, slots=True)
class Reached:
    """The operations of a body: the names in them, and its own variables that functions capture.

    cells: variables of nested comprehensions that functions capture.
    """

    ops: frozenset[str]
    shared: frozenset[str]
    cells: frozenset[str] = frozenset()

    @staticmethod
    def of(listing: Listing) -> Reached:
        """Return the facts about the instructions of a listing."""
        rows, ops = listing.instructions, listing.ops
        has_inner = any(isinstance(const, Code) for const in listing.code.consts)
        shared = [item.arg.freevars for item in rows if isinstance(item.arg, Code)] if has_inner else ()
        cells = frozenset(str(item.arg) for item in rows if item.op == "MAKE_CELL") if "MAKE_CELL" in ops else NO_NAMES
        return Reached(ops, NO_NAMES.union(*shared), cells)


NOTHING_REACHED = Reached(NO_NAMES, NO_NAMES)


@dataclass(frozen=True, slots=True)
class Unreached:
    """The known facts about removed code.

    bound: variables that only this code binds.
    captured: variables that a function in it captures.
    read: free variables that it reads.
    yields, awaits: whether it does.
    inside: variables that only comprehensions in it bind.
    named: global variables that `:=` in it binds.
    looped: variables of comprehensions in it that a function captures.
    used: variables of a module that it reads.
    """

    bound: tuple[str, ...] = ()
    captured: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    yields: bool = False
    awaits: bool = False
    inside: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    looped: tuple[str, ...] = ()
    used: tuple[str, ...] = ()

    def statements(self) -> list[ast.stmt]:
        """Return an unreachable statement that binds and captures the variables."""
        never: list[ast.stmt] = []
        if self.bound:
            targets: list[ast.expr] = [Var(id=name, ctx=ast.Store(), scope="fast") for name in self.bound]
            never.append(ast.Assign(targets=targets, value=literal(None), lineno=0))
        if self.captured:
            never.append(ast.Expr(value=_capturing(self.captured), lineno=0))
        if self.looped:
            never.append(ast.Expr(value=_looping(self.looped, _capturing(self.looped)), lineno=0))
        return [ast.If(test=literal(False), body=never, orelse=[], lineno=0)] if never else []

    def parts(self, *, binds: bool) -> list[ast.expr]:
        """Return expressions with all these effects; `binds`: `:=` binds a variable of this code."""
        exprs = [_named(name, "fast") for name in self.bound] if binds else []
        exprs += [_named(name, "global") for name in self.named]
        exprs += [_looping(self.inside, literal(None))] if self.inside else []
        exprs += [Var(id=name, ctx=LOAD, scope="deref") for name in self.read]
        exprs += [Var(id=name, ctx=LOAD, scope="name") for name in self.used]
        exprs += [_capturing(self.captured)] if self.captured else []
        exprs += [ast.Yield(value=None)] if self.yields else []
        exprs += [ast.Await(value=literal(None))] if self.awaits else []
        return exprs

    def beside(self, expr: ast.expr, *, binds: bool = True) -> ast.expr:
        """Return an expression with the unreachable parts in a separate arm; `binds` is false in a comprehension."""
        parts = self.parts(binds=binds)
        if not parts:
            return expr
        step("an expression gets an unreachable arm")
        return ast.IfExp(test=literal(True), body=expr, orelse=together(parts))


ALL_REACHED = Unreached()


def together(parts: list[ast.expr]) -> ast.expr:
    """Return one expression for several."""
    return parts[0] if len(parts) == 1 else ast.Tuple(elts=parts, ctx=LOAD)


def _named(name: str, scope: str) -> ast.expr:
    return ast.NamedExpr(target=Var(id=name, ctx=ast.Store(), scope=scope), value=literal(None))


def _looping(names: Collection[str], element: ast.expr) -> ast.expr:
    """Return a comprehension that binds its own variables."""
    return ast.ListComp(elt=element, generators=[over_nothing(names)])


def over_nothing(names: Collection[str]) -> ast.comprehension:
    """Return a part of a comprehension that names variables but never binds them."""
    targets: list[ast.expr] = [Var(id=name, ctx=ast.Store(), scope="fast") for name in names]
    return ast.comprehension(target=together(targets), iter=ast.Tuple(elts=[], ctx=LOAD), ifs=[], is_async=0)


def _capturing(names: Collection[str]) -> ast.expr:
    nothing = ast.arguments(
        posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[]
    )
    return ast.Lambda(args=nothing, body=together([Var(id=name, ctx=LOAD, scope="deref") for name in names]))


def unreached(
    code: Code,
    stmts: list[ast.stmt],
    direct: list[Var],
    inner: list[Var],
    named: list[ast.AST],
    unused: Collection[str],
    reached: Reached,
) -> Unreached:
    """Return the facts that nothing in a body explains.

    Args:
        code: the code object of the body.
        stmts: the statements of the body.
        direct: variables that the body itself names.
        inner: variables that inlined comprehensions in the body name.
        named: nodes of the body, among them those other than `Var` that name a variable.
        unused: free variables that nothing names.
        reached: the operations of the body, and the variables that functions capture.
    """
    shared = reached.shared | {node.name for node in named if isinstance(node, Cell)}
    captured = set(code.cellvars).difference(shared, IMPLIED)
    if code.name == "<module>":
        return Unreached(looped=tuple(sorted(set(code.cellvars).difference(reached.cells, IMPLIED))))
    if not code.flags & CO_OPTIMIZED:
        # A class has its own variables, separate from those of the enclosing code that its methods see.
        return Unreached(captured=tuple(sorted(filter(str.isidentifier, captured.union(unused)))))
    # Program-written code may have a free variable with the name of a local one. Other code refers to the free one.
    looped = _targets(stmts, inner) if inner else NO_NAMES
    unbound = {*code.varnames, *code.cellvars}.difference(code.parameters)
    unbound -= _bound(direct) | (_bound(inner) - looped)
    unbound.difference_update([node.name for node in named if isinstance(node, ast.ExceptHandler)])
    if unbound:
        read = {var.id for var in direct if is_own(var, code)} | (shared - set(code.freevars) - looped) | captured
        unbound &= read | ({var.id for var in inner if is_own(var, code)} - looped)
    flags = code.flags
    return Unreached(
        bound=tuple(sorted(name for name in unbound if name.isidentifier())),
        captured=tuple(sorted(name for name in captured if name.isidentifier())),
        read=tuple(sorted(unused)),
        yields=code.name == "<lambda>" and bool(flags & CO_GENERATOR) and reached.ops.isdisjoint(YIELDS),
        awaits=bool(flags & (CO_COROUTINE | CO_ASYNC_GENERATOR)) and reached.ops.isdisjoint(AWAITS),
    )


def _bound(variables: list[Var]) -> set[str]:
    return {var.id for var in variables if not isinstance(var.ctx, ast.Load)}


def _targets(stmts: list[ast.stmt], inner: list[Var]) -> AbstractSet[str]:
    """Return the variables that are targets only in comprehensions; `:=` in them binds one of the enclosing code."""
    targets = _bound(inner)
    if targets:
        named: list[ast.NamedExpr] = of_kinds(stmts, frozenset({ast.NamedExpr}))
        targets.difference_update([expr.target.id for expr in named])
    return targets


def is_own(var: Var, code: Code) -> bool:
    """Return whether a variable belongs to this code."""
    return var.scope == "fast" or (var.scope == "deref" and var.id in code.cellvars)
