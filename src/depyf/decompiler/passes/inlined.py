"""Inlined comprehensions, once their loop has become statements.

Before: EXPR without a meaning; statements `r = []; for a in .0: if c: r.append(b)`
After:  EXPR that makes [b for a in x if c] from the iterator of x
"""

from __future__ import annotations

import ast
from collections.abc import Hashable

from depyf.bytecode.code import CO_OPTIMIZED, Code
from depyf.bytecode.constants import key
from depyf.decompiler.graph.tac import Inst
from depyf.decompiler.lift.nodes import IMPURE, AsyncIter, Function, GetIter, Var
from depyf.decompiler.lift.values import as_set
from depyf.decompiler.passes.comprehensions import comprehension
from depyf.decompiler.passes.scopes import own_variables
from depyf.decompiler.passes.unreached import Unreached
from depyf.decompiler.passes.walk import of_kinds
from depyf.decompiler.structure.compounds import Compound
from depyf.decompiler.structure.inlined import ITERATOR, Inlined

FUNCTIONS: frozenset[type] = frozenset({Function})


def inlined_operation(inlined: Inlined, stmts: list[ast.stmt]) -> Inst | None:
    """Return the operation for a comprehension; None if the statements are not those of one."""
    whole = comprehension(stmts, inlined.name, ITERATOR, ast.Constant(value=None), _gone(inlined, stmts))
    if whole is None:
        return None
    assert isinstance(whole, (ast.ListComp, ast.SetComp, ast.DictComp))
    first = whole.generators[0]

    def make(parts: list[ast.expr]) -> ast.expr:
        (iterator,) = parts
        first.iter = iterator.value if isinstance(iterator, (GetIter, AsyncIter)) else as_set(iterator)
        return whole

    variables = [var for var in own_variables(stmts, around=True) if var.scope == "fast"]
    targets = _targets(whole)
    reads = frozenset(var.id for var in variables) - targets - {ITERATOR}
    writes = frozenset(var.id for var in variables if isinstance(var.ctx, ast.Store)) - targets
    _name_as_outside(whole, inlined, variables, targets)
    compound = Compound(make, IMPURE, reads, writes, content=_content(whole))
    line = next((inst.line for inst in inlined.block.insts[::-1] if inst.line is not None), None)
    return Inst("EXPR", compound, [inlined.iterator], [inlined.result], line, -1)


def _name_as_outside(whole: ast.expr, inlined: Inlined, variables: list[Var], targets: set[str]) -> None:
    """Give the variables of a comprehension the name of a free variable that they share in the code.

    `nonlocal a; [a for a in y]` has a slot for each; the listing names the second `a.1` (`bytecode.normalise.apart`).
    A comprehension that reads the free variable itself is left as it is.
    """
    code = inlined.graph.code
    shared = {name: name.partition(".")[0] for name in targets if "." in name and name not in code.varnames}
    if not shared:
        return
    functions: list[Function] = of_kinds([whole], FUNCTIONS)
    outer = {var.id for var in variables if var.scope != "fast"}
    outer.update(*(function.code.freevars for function in functions))
    names = {name: base for name, base in shared.items() if base in code.freevars and base not in outer}
    for var in variables if names else ():
        var.id = names.get(var.id, var.id)


def _gone(inlined: Inlined, stmts: list[ast.stmt]) -> Unreached:
    """Return the traces of unreachable code: variables of the comprehension that nothing in it explains.

    Those of nested comprehensions count as its own. A comprehension in a class has every name that it reads.
    """
    inner: list[Var] = []
    direct = own_variables(stmts, True, inner)
    functions: list[Function] = of_kinds(stmts, FUNCTIONS)
    captured = inlined.cells.difference(*(function.code.freevars for function in functions))
    bound, bound_inside = _bound(direct), _bound(inner)
    code = inlined.graph.code
    if not code.flags & CO_OPTIMIZED and code.name != "<module>":
        bound |= {var.id for var in (*direct, *inner) if var.scope != "fast"}
    needed = captured.union(*(function.code.freevars for function in functions))
    needed |= {var.id for var in direct if var.scope == "fast"}
    named = {var.id for var in direct if var.scope == "global"}
    gone = [name for name in inlined.saved.values() if name.isidentifier() and name not in bound]
    hidden = {name for name in gone if _read_as_global(functions, name)} - needed
    # A variable of a nested comprehension belongs to this one, unless this one reads another variable of that name.
    explained = {var.id for var in (*direct, *inner) if var.scope != "fast"}.union(inlined.saved.values())
    used = bound_inside - explained if code.name == "<module>" else ()
    apart = (bound_inside - needed) | hidden | named
    return Unreached(
        bound=tuple(name for name in gone if name not in apart),
        captured=tuple(name for name in inlined.saved.values() if name in captured),
        inside=tuple(name for name in gone if name in hidden - named - bound_inside),
        named=tuple(name for name in gone if name in named),
        used=tuple(sorted(used)),
    )


def _bound(variables: list[Var]) -> set[str]:
    return {var.id for var in variables if not isinstance(var.ctx, ast.Load)}


def _read_as_global(functions: list[Function], name: str) -> bool:
    """Return whether a function, or a nested one, reads a name that is no variable of an enclosing function."""
    work = [function.code for function in functions]
    for code in work:  # The list grows during the iteration.
        if name not in (*code.varnames, *code.cellvars, *code.freevars):
            if name in code.names:
                return True
            work += [const for const in code.consts if isinstance(const, Code)]
    return False


def _content(whole: ast.expr) -> Hashable:
    """Return a key for the complete content of an expression, equal for copies of it."""
    words: list[Hashable] = []
    work: list[object] = [whole]
    while work:
        item = work.pop()
        words.append(type(item).__name__)
        if isinstance(item, ast.AST):
            fields = {name: value for name, value in vars(item).items() if name not in ("place", "row")}
            words += sorted(fields)
            work += [fields[name] for name in sorted(fields)]
        elif isinstance(item, list):
            words.append(len(item))
            work += item
        else:
            words.append(key(item))
    return tuple(words)


def _targets(whole: ast.ListComp | ast.SetComp | ast.DictComp) -> set[str]:
    return {
        node.id for generator in whole.generators for node in ast.walk(generator.target) if isinstance(node, Var)
    }
