"""Mutants in which another expression gives the same value, or one of which nobody can tell the difference.

**The same arms.** A condition is turned round, and both arms of its `if` are the same. Its truth is asked for once
either way. So with what a value is compared by `is`: that asks for nothing.

**A method of a list read later.** `t = v.append` goes, and the one use of `t` says `v.append`. `v` is bound once, to a
new list, so that neither its type nor what it names can change; reading the attribute of an exact list runs no code.

**A copy of a variable.** `a` is read instead of `b`, or the other way round, right behind `a = b`; or anywhere that `a`
is surely bound, where `a = b` is all that binds `a`, and `b` is a parameter that nothing binds again.

**A constant that is only tested.** Another constant of the same truth is assigned to a local variable, and every read
of that variable is the test of an `if` or `while`.
"""

from __future__ import annotations

import ast

from tools.survivors.difference import Difference, text
from tools.survivors.moves import replaced, stored
from tools.survivors.places import Places

SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return)


def has_same_arms(found: Difference, places: Places) -> bool:
    """Tell whether a condition was turned round whose arms are the same."""
    single = found.single()
    if single is None or not isinstance(single[1], ast.If) or not isinstance(single[2], ast.If):
        return False
    mine, its = single[1], single[2]
    arms = [
        [text(stmt) for stmt in arm if not isinstance(stmt, ast.Pass)]
        for arm in (mine.body, mine.orelse, its.body, its.orelse)
    ]
    if any(arm != arms[0] for arm in arms):
        return False
    turned = ast.UnaryOp(ast.Not(), mine.test), ast.UnaryOp(ast.Not(), its.test)
    if text(turned[0]) == text(its.test) or text(turned[1]) == text(mine.test):
        return True
    return identity(mine.test) is not None and identity(mine.test) == identity(its.test)


def identity(test: ast.expr) -> str | None:
    """Return what a test for identity with a constant evaluates, which is all that it does."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], (ast.Is, ast.IsNot)) or len(test.ops) > 1:
        return None
    return text(test.left) if isinstance(test.comparators[0], ast.Constant) else None


def is_list_method_read(found: Difference, places: Places) -> bool:
    """Tell whether a method of a list is read where it is called, and not before."""
    original = found.original
    reads = [stmt for stmt in found.mine if isinstance(stmt, ast.Assign) and is_list_method(stmt, original, places)]
    for read in reads:
        target = read.targets[0]
        assert isinstance(target, ast.Name)
        uses = [node for node in loads(original, target.id) if node is not target]
        if len(uses) != 1 or len(stores(original, target.id)) != 1 or target.id not in places.plain:
            continue
        holder = next((stmt for stmt in ast.walk(original) if isinstance(stmt, SIMPLE) and holds(stmt, uses[0])), None)
        known = places.at(holder) if holder is not None else None
        if known is not None and target.id in known[0] and becomes(found, read, target.id):
            return True
    return False


def is_list_method(stmt: ast.Assign, function: ast.AST, places: Places) -> bool:
    """Tell whether a statement assigns the method of a list that is bound once, and new then."""
    value = stmt.value
    if len(stmt.targets) != 1 or not isinstance(stmt.targets[0], ast.Name) or not isinstance(value, ast.Attribute):
        return False
    if not isinstance(value.value, ast.Name) or value.attr.startswith("_") or not hasattr([], value.attr):
        return False
    name = value.value.id
    makers = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List) and stored(node) == {name}
    ]
    return name in places.plain and len(makers) == 1 and len(stores(function, name)) == 1


def becomes(found: Difference, read: ast.Assign, name: str) -> bool:
    """Tell whether the mutant is the original without `read`, whose value stands in the place of the variable."""
    kept = found.mine[:]
    place = next(number for number, stmt in enumerate(kept) if stmt is read)
    made = [replaced(stmt, name, read.value) for stmt in kept]
    made[place] = ast.Pass()
    return [text(stmt) for stmt in made] == [text(stmt) for stmt in found.its]


def is_copy_read(found: Difference, places: Places) -> bool:
    """Tell whether a variable is read instead of another that surely has the same value."""
    single = found.single()
    if single is None or not isinstance(single[1], SIMPLE):
        return False
    place, mine, its = single
    pair = renamed(mine, its)
    if pair is None or not set(pair) <= places.plain:
        return False
    before = found.mine[place - 1] if place else None
    if isinstance(before, ast.Assign) and copied(before) is not None and set(copied(before) or ()) == set(pair):
        return True
    known = places.at(mine)
    parameters = set(places.listing.code.parameters)
    for new, old in (pair, pair[::-1]):
        makers = stores(found.original, new)
        assigns = [node for node in ast.walk(found.original) if isinstance(node, ast.Assign)]
        copies = [node for node in assigns if copied(node) == (new, old)]
        is_kept = old in parameters and not stores(found.original, old)
        if known is not None and new in known[0] and len(makers) == len(copies) == 1 and is_kept:
            return True
    return False


def copied(stmt: ast.Assign) -> tuple[str, str] | None:
    """Return the variables of `new = old`."""
    target = stmt.targets[0]
    if len(stmt.targets) != 1 or not isinstance(target, ast.Name) or not isinstance(stmt.value, ast.Name):
        return None
    return target.id, stmt.value.id


def renamed(mine: ast.stmt, its: ast.stmt) -> tuple[str, str] | None:
    """Return the variable that one statement reads and the one that the other reads, if that is all that differs."""
    pairs = list(zip(ast.walk(mine), ast.walk(its)))
    if any(isinstance(node, (ast.NamedExpr, ast.Lambda)) for node, _ in pairs):
        return None
    for one, two in pairs:
        if isinstance(one, ast.Name) and isinstance(two, ast.Name) and one.id != two.id:
            if not isinstance(one.ctx, ast.Load):
                return None
            name, one.id = one.id, two.id
            is_all = text(mine) == text(its)
            one.id = name
            return (name, two.id) if is_all else None
    return None


def is_only_tested(found: Difference, places: Places) -> bool:
    """Tell whether another constant of the same truth is assigned to a variable that is only tested."""
    single = found.single()
    if single is None or not isinstance(single[1], ast.Assign) or not isinstance(single[2], ast.Assign):
        return False
    mine, its = single[1], single[2]
    if not isinstance(mine.value, ast.Constant) or not isinstance(its.value, ast.Constant):
        return False
    targets = stored(mine)
    if [text(one) for one in mine.targets] != [text(one) for one in its.targets] or not targets <= places.plain:
        return False
    if not all(isinstance(target, ast.Name) for target in mine.targets):
        return False
    tests = {id(node.test) for node in ast.walk(found.original) if isinstance(node, (ast.If, ast.While))}
    are_tested = all(id(node) in tests for name in targets for node in loads(found.original, name))
    return are_tested and bool(mine.value.value) == bool(its.value.value)


def loads(function: ast.AST, name: str) -> list[ast.Name]:
    """Return the reads of a variable."""
    named = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name]
    return [node for node in named if isinstance(node.ctx, ast.Load)]


def stores(function: ast.AST, name: str) -> list[ast.AST]:
    """Return what binds or unbinds a variable, as a parameter does not."""
    found: list[ast.AST] = []
    for node in ast.walk(function):
        is_name = isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
        bound = getattr(node, "name", None) if not isinstance(node, ast.Name) else None
        aliases = {(alias.asname or alias.name).partition(".")[0] for alias in getattr(node, "names", ())
                   if isinstance(alias, ast.alias)}  # fmt: skip
        if is_name or bound == name or name in aliases or getattr(node, "rest", None) == name:
            found.append(node)
    return found


def holds(stmt: ast.stmt, expr: ast.expr) -> bool:
    """Tell whether an expression is part of a statement."""
    return any(node is expr for node in ast.walk(stmt))
