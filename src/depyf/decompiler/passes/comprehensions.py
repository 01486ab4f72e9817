"""Comprehensions whose loop is a separate function.

Before: <listcomp function>(<iterator of x>), whose body is `r = []; for a in .0: if c: r.append(b)`
After:  [b for a in x if c]
"""

from __future__ import annotations

import ast

from depyf.bytecode.code import CO_COROUTINE, Code
from depyf.bytecode.normalise import normalise
from depyf.decompiler.lift.nodes import AsyncIter, Function, GetIter, Temp, Var, literal
from depyf.decompiler.lift.values import as_set
from depyf.decompiler.passes.body import Bodies
from depyf.decompiler.passes.sought import SOUGHT
from depyf.decompiler.passes.unreached import ALL_REACHED, Unreached, over_nothing, together
from depyf.decompiler.passes.walk import of_kinds

NAMES = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
KINDS = {"<listcomp>": ast.ListComp, "<setcomp>": ast.SetComp, "<genexpr>": ast.GeneratorExp}
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
NOTHING = literal(None)
"""Stands for the element of a comprehension that has none because its condition is constantly false."""
ADDERS = {
    ("<listcomp>", "append"): False,
    ("<setcomp>", "add"): False,
    ("<dictcomp>", "__setitem__"): False,
    ("<listcomp>", "extend"): True,
    ("<setcomp>", "update"): True,
    ("<dictcomp>", "update"): True,
}
"""The method with which a comprehension adds its elements, and whether it unpacks them: `[*a for a in b]` (3.15)."""


def restore_comprehension(call: ast.Call, bodies: Bodies) -> ast.expr | None:
    """Return the comprehension for a call of a comprehension's function, or None."""
    function = call.func
    if not isinstance(function, Function) or function.code.name not in NAMES or len(call.args) != 1 or call.keywords:
        return None
    iterable = _iterable(call.args[0], function.code) if function.code.argcount == 1 else None
    if iterable is None:
        return None
    body = bodies[id(function.code)]
    expression = comprehension(body.stmts, body.code.name, body.code.varnames[0], iterable, body.unreached)
    if isinstance(expression, COMPREHENSIONS):
        body.special = of_kinds([expression], SOUGHT)  # Some nodes of the loop are gone.
        expression.bound = _bound(expression)  # type: ignore[union-attr]
        expression.awaited = bool(function.code.flags & CO_COROUTINE)  # type: ignore[union-attr]
    return expression


def _iterable(argument: ast.expr, code: Code) -> ast.expr | None:
    """Return the iterable: its iterator is made before the call of the function, or by the function (3.15)."""
    if isinstance(argument, (GetIter, AsyncIter)):
        return argument.value
    start = normalise(code).instructions[:2]
    is_made_inside = start[0].arg == code.varnames[0] and start[-1].op in ("GET_ITER", "GET_AITER")
    return as_set(argument) if is_made_inside else None


def is_awaited(expr: ast.expr) -> bool:
    """Return whether an expression is an async comprehension whose `await` must be dropped; True only once."""
    awaited: bool = getattr(expr, "awaited", False)
    if awaited:
        expr.awaited = False  # type: ignore[attr-defined]
    return awaited


def bound_around(comprehension: ast.expr) -> list[Var] | None:
    """Return the enclosing function's variables that `:=` in a comprehension binds; None if its code is inline."""
    bound: list[Var] | None = getattr(comprehension, "bound", None)
    return bound


def _bound(comprehension: ast.expr) -> list[Var]:
    targets: list[Var] = []
    work: list[ast.AST] = [comprehension]
    while work:
        node = work.pop()
        if isinstance(node, ast.NamedExpr) and isinstance(node.target, Var):
            targets.append(node.target)
        if not isinstance(node, ast.Lambda):
            work.extend(ast.iter_child_nodes(node))
    return targets


def comprehension(
    body: list[ast.stmt], name: str, parameter: str, iterable: ast.expr, gone: Unreached = ALL_REACHED
) -> ast.expr | None:
    """Return the comprehension over `iterable` for the statements of a loop over `parameter`, or None.

    Args:
        body: the statements of the comprehension's function.
        name: the function's name: `<listcomp>`, `<setcomp>`, `<dictcomp>` or `<genexpr>`.
        parameter: the variable of the outermost iterator.
        iterable: the expression to iterate over.
        gone: the traces of unreachable code in the comprehension.
    """
    stmts = list(body)
    result: ast.expr | None = None
    if stmts and isinstance(stmts[-1], ast.Return):
        returned = stmts.pop()
        assert isinstance(returned, ast.Return)
        result = returned.value
    if isinstance(result, Temp):
        if not stmts or not _initial(stmts[0], result):
            return None
        stmts.pop(0)
    elif result is not None:
        return None
    if len(stmts) != 1 or not isinstance(stmts[0], (ast.For, ast.AsyncFor)):
        return None
    generators: list[ast.comprehension] = []
    element = _loops(stmts[0], generators)
    if element is None or not _is_parameter(generators[0].iter, parameter):
        return None
    generators[0].iter = iterable
    return _build(name, element, generators, result, gone)


def _initial(stmt: ast.stmt, result: Temp) -> bool:
    if not isinstance(stmt, ast.Assign) or not isinstance(stmt.targets[0], Temp):
        return False
    return stmt.targets[0].temp == result.temp


def _is_parameter(expr: ast.expr, name: str) -> bool:
    return isinstance(expr, ast.Name) and expr.id == name


def _loops(stmt: ast.stmt, generators: list[ast.comprehension]) -> ast.expr | None:
    """Take nested loops and conditions apart; return the innermost expression."""
    while True:
        if (unpacked := _unpacked(stmt)) is not None:
            return ast.Yield(value=ast.Starred(value=unpacked, ctx=ast.Load()))
        if isinstance(stmt, (ast.For, ast.AsyncFor)) and not stmt.orelse:
            is_async = int(isinstance(stmt, ast.AsyncFor))
            generators.append(ast.comprehension(target=stmt.target, iter=stmt.iter, ifs=[], is_async=is_async))
            inner = stmt.body
        elif isinstance(stmt, ast.If) and not stmt.orelse:
            generators[-1].ifs.append(stmt.test)
            inner = stmt.body
        elif isinstance(stmt, ast.If) and all(isinstance(part, (ast.Pass, ast.Continue)) for part in stmt.body):
            generators[-1].ifs.append(ast.UnaryOp(op=ast.Not(), operand=stmt.test))
            inner = stmt.orelse
        elif isinstance(stmt, ast.Expr):
            return stmt.value
        elif isinstance(stmt, ast.Pass):
            generators[-1].ifs.append(literal(False))
            return NOTHING
        else:
            return None
        last = _innermost(inner, generators)
        if last is None:
            return None
        stmt = last


def _innermost(block: list[ast.stmt], generators: list[ast.comprehension]) -> ast.stmt | None:
    """Take what precedes the last statement of a block as filters and loops over one value; return the last one.

    Returns None if the block holds anything else.
    """
    *before, last = block
    while before and (passed := _passed(before[0])) is not None:
        generators[-1].ifs.append(ast.BoolOp(op=ast.Or(), values=[passed, literal(True)]))
        del before[0]
    if len(before) == 1 and _skips(before[0]):
        (first,) = before
        assert isinstance(first, ast.If)
        generators[-1].ifs.append(ast.UnaryOp(op=ast.Not(), operand=first.test))
        return last
    singles = [_single(stmt) for stmt in before]
    generators += [single for single in singles if single is not None]
    return None if None in singles else last


def _unpacked(stmt: ast.stmt) -> ast.expr | None:
    """Return the iterable of a loop that yields each item: `*a` of a generator expression."""
    if not isinstance(stmt, ast.For) or not isinstance(stmt.target, Temp) or stmt.orelse or len(stmt.body) != 1:
        return None
    (inner,) = stmt.body
    value = inner.value.value if isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Yield) else None
    return stmt.iter if isinstance(value, Temp) and value.temp == stmt.target.temp else None


def _single(stmt: ast.stmt) -> ast.comprehension | None:
    """Return the loop over one value that was compiled as an assignment: `for a in [b]`."""
    if not isinstance(stmt, ast.Assign) or len(stmt.targets) != 1 or isinstance(stmt.targets[0], Temp):
        return None
    return ast.comprehension(
        target=stmt.targets[0], iter=ast.List(elts=[stmt.value], ctx=ast.Load()), ifs=[], is_async=0
    )


def _passed(stmt: ast.stmt) -> ast.expr | None:
    """Return the test that decides nothing: `if a or True`."""
    if not isinstance(stmt, ast.If) or stmt.orelse:
        return None
    return stmt.test if all(isinstance(part, ast.Pass) for part in stmt.body) else None


def _skips(stmt: ast.stmt) -> bool:
    if not isinstance(stmt, ast.If) or stmt.orelse:
        return False
    return len(stmt.body) == 1 and isinstance(stmt.body[0], ast.Continue)


def _never(name: str, generators: list[ast.comprehension], gone: Unreached) -> ast.expr:
    """Return a comprehension that the compiler knew to be empty."""
    if gone.bound:
        generators.append(over_nothing(gone.bound))
    element = together(gone.parts(binds=False) or [NOTHING])
    if name == "<dictcomp>":
        return ast.DictComp(key=element, value=literal(None), generators=generators)
    return KINDS[name](elt=element, generators=generators)


def _build(
    name: str, element: ast.expr, generators: list[ast.comprehension], result: ast.expr | None, gone: Unreached
) -> ast.expr | None:
    if element is NOTHING:
        return _never(name, generators, gone)
    if name == "<genexpr>":
        if result is not None or not isinstance(element, ast.Yield) or element.value is None:
            return None
        return ast.GeneratorExp(elt=gone.beside(element.value, binds=False), generators=generators)
    if not isinstance(element, ast.Call) or not isinstance(element.func, ast.Attribute):
        return None
    adder = element.func
    if not isinstance(adder.value, Temp) or not isinstance(result, Temp) or adder.value.temp != result.temp:
        return None
    unpacks = ADDERS.get((name, adder.attr))
    if unpacks is None:
        return None
    if name == "<dictcomp>" and not unpacks:
        key, value = element.args
        return ast.DictComp(key=gone.beside(key, binds=False), value=value, generators=generators)
    item = gone.beside(element.args[0], binds=False)
    if name == "<dictcomp>":
        return ast.DictComp(key=item, value=None, generators=generators)  # type: ignore[arg-type]
    return KINDS[name](elt=ast.Starred(value=item, ctx=ast.Load()) if unpacks else item, generators=generators)
