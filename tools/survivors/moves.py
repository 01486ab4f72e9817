"""Mutants in which statements stand in another order, one of which does nothing that anybody can tell.

**A quiet assignment moved.** Two statements in a row change places, one of which only binds local variables to
constants, to new displays or functions, or to variables that are surely bound, or unbinds such variables, or lets a
list grow that was made further up in the same sequence and that nobody has seen since. It runs no
code of the program and cannot fail; the other statement names none of these variables, and assigns none that the first
one reads. No handler around them reads the variables, no function inside this one shares them, and nobody looks at them
through the frame, or both statements are quiet, and nobody can look in between (decision 0008).

**A read moved past quiet assignments.** What is assigned in one statement is computed in a later one instead, first of
all there, and only quiet assignments stand between. Nothing else names the variable that it was assigned to, or nothing
but statements behind that use, the first of which to name it binds it anew.
"""

from __future__ import annotations

import ast
import copy

from tools.survivors.difference import Difference, text
from tools.survivors.places import Places


def is_quiet_move(found: Difference, places: Places) -> bool:
    """Tell whether all that differs is where a quiet statement stands."""
    differ = found.places()
    if len(differ) != 2 or differ[1] != differ[0] + 1:
        return False
    first, second = found.mine[differ[0]], found.mine[differ[1]]
    if [text(first), text(second)] != [text(found.its[differ[1]]), text(found.its[differ[0]])]:
        return False
    known = places.at(first, second)
    if known is None:
        return False
    both = all(is_quiet(stmt, known[0], places) for stmt in (first, second))
    if places.reads_frame and not both:
        return False
    if any(grows(stmt, found.mine[: differ[0]], known[0], places) for stmt in (first, second)):
        target = next(grown(stmt) for stmt in (first, second) if grown(stmt))
        other = second if grown(first) else first
        return target not in names(other) | known[1] and not names(first) & stored(second) | names(second) & stored(
            first
        )
    return commutes(first, second, known, places) or commutes(second, first, known, places)


def is_read_moved(found: Difference, places: Places) -> bool:
    """Tell whether a value is computed where it is used first of all, with quiet assignments alone in between."""
    differ = found.places()
    if len(differ) != 2 or not isinstance(found.its[differ[0]], ast.Pass):
        return False
    read, use = found.mine[differ[0]], found.its[differ[1]]
    if not isinstance(read, ast.Assign) or len(read.targets) != 1 or not isinstance(read.targets[0], ast.Name):
        return False
    name = read.targets[0].id
    if name not in places.plain or not is_forgotten(name, found, differ[1]):
        return False
    between = found.mine[differ[0] + 1 : differ[1]]
    known = places.at(read, *between)
    is_same = text(replaced(found.mine[differ[1]], name, read.value)) == text(use)
    if known is None or not is_same or not is_first(use, text(read.value), places):
        return False
    return all(commutes(stmt, read, known, places) for stmt in between)


def is_forgotten(name: str, found: Difference, place: int) -> bool:
    """Tell whether what a variable holds in the original at a place is not read in the mutant."""
    rest = [stmt for stmt in found.its[place + 1 :] if name in names(stmt)]
    inside = sum(isinstance(node, ast.Name) and node.id == name for stmt in rest for node in ast.walk(stmt))
    whole = sum(isinstance(node, ast.Name) and node.id == name for node in ast.walk(found.changed))
    if not rest:
        return whole == 0
    first = rest[0]
    binds = isinstance(first, ast.Assign) and text(first.targets[0]) == text(ast.Name(name, ast.Store()))
    return binds and inside == whole and name not in names(first.value)  # type: ignore[attr-defined]


def replaced(stmt: ast.stmt, name: str, value: ast.expr) -> ast.stmt:
    """Return a copy of a statement with a value in the place of a variable."""

    class Replace(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return value if node.id == name and isinstance(node.ctx, ast.Load) else node

    copied: ast.stmt = Replace().visit(copy.deepcopy(stmt))
    return copied


def is_first(stmt: ast.stmt, value: str, places: Places) -> bool:
    """Tell whether a value is the first thing that a statement computes."""
    start = stmt.iter if isinstance(stmt, ast.For) else getattr(stmt, "value", getattr(stmt, "test", None))
    node: object = start
    while isinstance(node, ast.AST):
        if text(node) == value:
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and places.is_constant(node.func.id):
            node = node.args[0] if node.args else None
            continue
        node = getattr(node, "left", getattr(node, "func", getattr(node, "value", None)))
    return False


def commutes(quiet: ast.stmt, other: ast.stmt, known: tuple[frozenset[str], frozenset[str]], places: Places) -> bool:
    """Tell whether a statement is quiet and may change places with another one."""
    bound, seen = known
    if not is_quiet(quiet, bound, places):
        return False
    targets = stored(quiet)
    read = set() if isinstance(quiet, ast.Delete) else evaluated(quiet)
    return not targets & names(other) and not read & stored(other) and not targets & seen


def is_quiet(stmt: ast.stmt, bound: frozenset[str], places: Places) -> bool:
    """Tell whether a statement does nothing but bind or unbind local variables that nobody shares, and cannot fail."""
    if isinstance(stmt, ast.Delete):
        return all(isinstance(target, ast.Name) and target.id in bound for target in stmt.targets)
    if not isinstance(stmt, ast.Assign):
        return False
    variables = [name for target in stmt.targets for name in parts(target, stmt.value)]
    are_plain = all(isinstance(name, ast.Name) and name.id in places.plain for name in variables)
    return are_plain and is_quiet_value(stmt.value, bound)


def parts(target: ast.expr, value: ast.expr) -> list[ast.expr]:
    """Return what an assignment binds: the parts of a target where the value is a display of just as many."""
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple) or len(target.elts) != len(value.elts):
        return [target]
    return target.elts


def grown(stmt: ast.stmt) -> str:
    """Return the variable of `v.append(w)` and `v.extend([w, ...])`, or nothing."""
    call = stmt.value if isinstance(stmt, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.keywords:
        return ""
    owner = call.func.value
    is_known = call.func.attr == "append" or (call.func.attr == "extend" and isinstance(call.args[0], ast.List))
    return owner.id if isinstance(owner, ast.Name) and is_known and len(call.args) == 1 else ""


def grows(stmt: ast.stmt, before: list[ast.stmt], bound: frozenset[str], places: Places) -> bool:
    """Tell whether a statement lets a list grow that was made before it, and that nothing but such statements named."""
    name = grown(stmt)
    if name not in places.plain or not isinstance(stmt, ast.Expr) or not isinstance(stmt.value, ast.Call):
        return False
    if not is_quiet_value(stmt.value.args[0], bound):
        return False
    while before and (name not in names(before[-1]) or grown(before[-1]) == name):
        before = before[:-1]
    if (
        not before
        or not isinstance(before[-1], ast.Assign)
        or [text(one) for one in before[-1].targets] != [text(ast.Name(name, ast.Store()))]
    ):
        return False
    value = before[-1].value
    if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice):
        value = value.value
    return isinstance(value, ast.List)


QUIET = (ast.Constant, ast.Name, ast.Tuple, ast.List, ast.Dict, ast.UnaryOp, ast.Lambda)
CONTEXTS = (ast.Load, ast.USub, ast.UAdd, ast.Not, ast.Invert)


def is_quiet_value(value: ast.expr, bound: frozenset[str]) -> bool:
    """Tell whether computing a value runs no code of the program and cannot fail."""
    work: list[ast.AST] = [value]
    while work:
        node = work.pop()
        if isinstance(node, ast.Lambda):
            # What its body names it finds when it is called; a shared variable is found through its cell.
            if node.args.defaults or any(node.args.kw_defaults):
                return False
            continue
        if isinstance(node, ast.Dict) and not all(isinstance(key, ast.Constant) for key in node.keys):
            return False
        if isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
            return False
        if isinstance(node, ast.Name) and node.id not in bound:
            return False
        if not isinstance(node, (*QUIET, *CONTEXTS)):
            return False
        work.extend(ast.iter_child_nodes(node))
    return True


def evaluated(stmt: ast.stmt) -> set[str]:
    """Return the variables whose values an assignment takes: not what a function in it will find when it is called."""
    found: set[str] = set()
    work: list[ast.AST] = [stmt.value] if isinstance(stmt, ast.Assign) else [stmt]
    while work:
        node = work.pop()
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, ast.Name):
            found.add(node.id)
        work.extend(ast.iter_child_nodes(node))
    return found


def stored(stmt: ast.stmt) -> set[str]:
    """Return the variables that a statement binds or unbinds."""
    found = {node.id for node in ast.walk(stmt) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    return found | imported(stmt)


def names(node: ast.AST) -> set[str]:
    """Return all names in a node."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} | imported(node)


def imported(node: ast.AST) -> set[str]:
    """Return the names that imports in a node bind."""
    aliases = [part for part in ast.walk(node) if isinstance(part, ast.alias)]
    return {(alias.asname or alias.name).partition(".")[0] for alias in aliases}
