"""Turn jumps into `break`, `continue`, `return`, or nothing, and items into statements.

Before: Loop(7, [If(c, [Jump 9], [])...]), Label 9
After:  while True: if c: break ...

Each place has a set of labels that it reaches by falling through; a jump there to one of them becomes nothing. `break`
leads to the labels after the loop, `continue` to the loop's header.
"""

from __future__ import annotations

import ast

from depyf.bytecode.code import CO_OPTIMIZED
from depyf.bytecode.records import dataclass
from depyf.decompiler.graph.tac import Graph
from depyf.decompiler.lift.extent import note_extent
from depyf.decompiler.lift.nodes import ExcMatch
from depyf.decompiler.steps import step
from depyf.decompiler.structure.place import live_tails
from depyf.decompiler.structure.polarity import keeps_polarity, negated
from depyf.decompiler.structure.trampoline import Steps, run
from depyf.decompiler.structure.tree import (
    Enter,
    For,
    If,
    Item,
    Jump,
    Label,
    Loop,
    ReraiseStmt,
    Statement,
    Try,
    WithBody,
)

Labels = frozenset[int]
NOWHERE: Labels = frozenset()


ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue, ReraiseStmt)
"""Statements that never fall through: a jump after them is dead."""


class Unresolved(Exception):
    """A jump for which Python has no statement."""

    def __init__(self, label: int) -> None:
        self.label = label
        super().__init__(f"no statement jumps to block {label}")


@dataclass(slots=True)
class Context:
    """The targets at the end of a sequence (`next`), of `continue`, and of `break`.

    returns: whether `return` is equivalent to reaching the end of the code.
    """

    next: Labels
    header: Labels
    after: Labels
    broke: list[bool]
    returns: bool

    def before(self, following: Labels) -> Context:
        """Return the context of statements with another successor."""
        return Context(following, self.header, self.after, self.broke, self.returns)


class TryStmt(Statement):
    """A `try` whose handler is not split into clauses yet."""

    _fields = ("body", "handler", "orelse")
    body: list[ast.stmt]
    handler: list[ast.stmt]
    orelse: list[ast.stmt]
    exc: int
    is_finally: bool


class WithStmt(Statement):
    """The body of a `with`; its head is the `Enter` before it."""

    _fields = ("body",)
    body: list[ast.stmt]
    exit: int


class ForStmt(Statement):
    """A `for` over a temporary; the passes insert the iterable and the target."""

    _fields = ("iterator", "value", "body", "orelse")
    iterator: ast.expr
    value: ast.expr
    body: list[ast.stmt]
    orelse: list[ast.stmt]
    is_async: bool


def resolve(items: list[Item], graph: Graph) -> list[ast.stmt]:
    """Return the statements of the items of a graph, at whose end a bare `return` is implied.

    Raises Unresolved for a jump that no statement expresses.
    """
    step("{} items become statements", len(items))
    returns = bool(graph.code.flags & CO_OPTIMIZED)
    context = Context(frozenset((graph.end,)), NOWHERE, NOWHERE, [False], returns)
    return run(_Resolver(graph.end, graph.source_order, returns).sequence(items, context))


class _Resolver:
    """Resolves items.

    in_order: a `return` in a `try` has its own code, which ends the `try` before.
    returns: there is a `return`, as in functions, but not in modules and class bodies.
    """

    def __init__(self, end: int, in_order: bool, returns: bool) -> None:
        self.end = end
        self.in_order = in_order
        self.returns = returns

    def sequence(self, items: list[Item], context: Context) -> Steps[list[ast.stmt]]:
        """Resolve items in order; a jump after a statement that never falls through becomes nothing."""
        flat = _flatten(items)
        follows = _follows(flat, context.next)
        out: list[ast.stmt] = []
        for item, following in zip(flat, follows):
            if isinstance(item, ast.stmt):
                out.append(item)
            elif isinstance(item, Jump):
                if not out or not isinstance(out[-1], ENDS):
                    out += self._jump(item, context.before(following))
            elif not isinstance(item, Label):
                out += yield self._compound(item, context.before(following))
        return out

    def _jump(self, jump: Jump, context: Context) -> list[ast.stmt]:
        said = jump.explicit and jump.label in context.header | context.after
        if jump.never or (jump.label in context.next and not said):
            return []
        if jump.label in context.header:
            step("the jump to block {} becomes `continue`", jump.label)
            return [ast.Continue()]
        if jump.label in context.after:
            step("the jump to block {} becomes `break`", jump.label)
            context.broke[0] = True
            return [ast.Break()]
        if jump.label == self.end and self.returns:
            step("the jump to block {} becomes `return`", jump.label)
            return [ast.Return(value=None)]
        raise Unresolved(jump.label)

    def _compound(self, item: If | Loop | For | Try | WithBody, context: Context) -> Steps[list[ast.stmt]]:
        stmts: list[ast.stmt]
        match item:
            case If():
                body = yield self.sequence(item.body, context)
                orelse = yield self.sequence(item.orelse, context)
                if item.near and not body and orelse:
                    body = self._way_out(item, item.body, context)
                elif item.near is False and body and not orelse:
                    orelse = self._way_out(item, item.orelse, context)
                return [_if(item, body, orelse)]
            case Loop():
                stmts = yield self._loop(item, context)
                return stmts
            case For():
                stmts = yield self._for(item, context)
                return stmts
            case Try():
                end = _joint_end(item, context)
                inner = context if end is None else context.before(frozenset((end.label,)))
                stmts = yield self._try(item, inner)
                return [*stmts, *(self._jump(end, context) if end is not None else ())]
            case WithBody():
                body = yield self.sequence(item.body, context)
                if (yield self.sequence(item.suppressed, context)):
                    raise Unresolved(-1)
                return [WithStmt(body=body or [ast.Pass()], exit=item.exit, lineno=0)]

    def _loop(self, item: Loop, context: Context) -> Steps[list[ast.stmt]]:
        header = frozenset((item.header,))
        inner = Context(header, header, context.next, [False], context.returns)
        body = yield self.sequence(item.body, inner)
        orelse = yield self.sequence(item.orelse, context)
        test = item.test if item.test is not None else ast.Constant(value=True)
        stmt = ast.While(test=test, body=body or [ast.Pass()], orelse=[], lineno=item.line or 0)
        if inner.broke[0] or item.behind >= 0:
            stmt.orelse = orelse
            return [stmt]
        return [stmt, *orelse]

    def _for(self, item: For, context: Context) -> Steps[list[ast.stmt]]:
        header = frozenset((item.header,))
        inner = Context(header, header, context.next, [False], context.returns)
        body = yield self.sequence(item.body, inner)
        orelse = yield self.sequence(item.orelse, context)
        stmt = ForStmt(
            iterator=item.iterator,
            value=item.value,
            body=body,
            orelse=[],
            is_async=item.is_async,
            lineno=item.line or 0,
        )
        if inner.broke[0] or item.behind >= 0:
            stmt.orelse = orelse
            return [stmt]
        return [stmt, *orelse]

    def _try(self, item: Try, context: Context) -> Steps[list[ast.stmt]]:
        returns = context.returns and not self.in_order
        context = Context(context.next, context.header, context.after, context.broke, returns)
        body_context = context
        if item.orelse:
            body_context = context.before(_entered(item.orelse))
        body = yield self.sequence(item.body, body_context)
        orelse = yield self.sequence(item.orelse, context)
        # The end of a `finally` body re-raises: any other exit is a statement.
        after = NOWHERE if item.is_finally else context.next
        handler = yield self.sequence(item.handler, context.before(after))
        stmt = TryStmt(
            body=body or [ast.Pass()],
            handler=handler,
            orelse=orelse,
            exc=item.exc,
            is_finally=item.is_finally,
            lineno=0,
        )
        return [stmt]

    def _way_out(self, item: If, arm: list[Item], context: Context) -> list[ast.stmt]:
        """Return the `return` or `continue` of an arm that has no other content, before an equivalent one.

        The arm of a matching exception is the handler's end. The statement `is_implied`: `pass` is equivalent.
        """
        only = [part for part in _flatten(arm) if isinstance(part, Jump)]
        if len(only) != 1 or isinstance(item.test, ExcMatch):
            return []
        way: ast.stmt | None = None
        if only[0].label in context.header:
            way = ast.Continue()
        elif context.returns and only[0].label == self.end:
            way = ast.Return(value=None)
        if way is None:
            return []
        way.is_implied = True  # type: ignore[attr-defined]
        return [way]


def _joint_end(item: Try, context: Context) -> Jump | None:
    """Return the jump of all ends of a `try` if it is a `continue` or `break`: it is written once, after the `try`."""
    ends = live_tails([item])
    labels = {jump.label for jump in ends}
    if item.is_finally or len(ends) < 2 or len(labels) > 1:
        return None
    is_way_out = labels <= context.header | context.after
    return ends[0] if is_way_out and not any(jump.explicit for jump in ends) else None


def _if(item: If, body: list[ast.stmt], orelse: list[ast.stmt]) -> ast.stmt:
    test, is_placed = item.test, item.near is not None
    is_turned = not body or item.near is False
    if orelse and is_turned and not keeps_polarity(test):
        test, body, orelse = negated(test), orelse, body
    stmt = ast.If(test=test, body=body or [ast.Pass()], orelse=orelse, lineno=item.line or 0)
    stmt.is_placed = is_placed  # type: ignore[attr-defined]
    if item.extent is not None:
        note_extent(stmt, item.extent)
    return stmt


def _flatten(items: list[Item]) -> list[Item]:
    """Replace filled jumps by their code."""
    out: list[Item] = []
    stack = [iter(items)]
    while stack:
        item = next(stack[-1], None)
        if item is None:
            stack.pop()
        elif isinstance(item, Jump) and item.body is not None:
            stack.append(iter(item.body))
        else:
            out.append(item)
    return out


def _entered(items: list[Item]) -> Labels:
    """Return the labels at the beginning of items."""
    labels = []
    for item in items:
        if not isinstance(item, (Label, Jump)):
            break
        labels.append(item.label)
        if isinstance(item, Jump):
            break
    return frozenset(labels)


def _follows(items: list[Item], after: Labels) -> list[Labels]:
    """Return for each item the labels that it reaches by falling through."""
    follows: list[Labels] = []
    present = after
    for item in reversed(items):
        follows.append(present)
        kind = type(item)
        if kind is Label:
            present = present | {item.label}  # type: ignore[union-attr]
        elif kind is not Jump:
            present = NOWHERE
        elif item.label not in present:  # type: ignore[union-attr]
            present = frozenset((item.label,))  # type: ignore[union-attr]
    follows.reverse()
    return follows


__all__ = ["Enter", "ForStmt", "ReraiseStmt", "TryStmt", "Unresolved", "WithStmt", "resolve"]
