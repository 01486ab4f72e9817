"""Mutants that are no other program: classes of them, each decided by a rule and shown here to change nothing.

**The same instructions.** The compiler makes the same code of both texts, but for the ranges of handlers around what
cannot raise: `-True` is folded to `-1`, `while 1.0` to `while True`, a last `return x` moves from `try` to its `else`.
What runs is the same, so the mutant is.

**A quiet assignment moved.** Two statements in a row change places, one of which only binds local variables to
constants, to new displays, or to variables that are surely bound. It runs no code of the program and cannot fail; the
other statement names none of these variables, and assigns none that the first one reads. No handler around them reads
the variables, and nobody looks at them through the frame (decision 0008).

**A read moved past quiet assignments.** What is assigned in one statement is computed in a later one instead, first of
all there, and only quiet assignments stand between.

**A dead store.** A constant that is assigned to a local variable is another one, or is not assigned at all, and every
path from there assigns the variable anew before anything reads it.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator

from depyf.bytecode.code import Code
from depyf.bytecode.constants import key
from depyf.bytecode.normalise import normalise
from depyf.bytecode.operations import OPERATIONS
from depyf.bytecode.reader import read
from depyf.verify.flow import Flow

Function = ast.FunctionDef | ast.AsyncFunctionDef
FRAME_READERS = frozenset({"locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe", "super"})


def explained(original: Function, changed: Function, codes: tuple[types.CodeType, types.CodeType]) -> str | None:
    """Return the class that shows a mutant to be the same program, or None where no rule shows it."""
    if same_instructions(*codes):
        return "same instructions"
    own = {*codes[0].co_varnames, *codes[0].co_cellvars}
    if any(isinstance(node, ast.Name) and node.id in FRAME_READERS - own for node in ast.walk(original)):
        return None
    if is_quiet_move(original, changed):
        return "quiet assignment moved"
    if is_read_moved(original, changed):
        return "read moved past quiet assignments"
    return "dead store" if is_dead_store(codes) else None


def same_instructions(first: types.CodeType, second: types.CodeType) -> bool:
    """Tell whether two code objects hold the same instructions, and so do those inside them.

    Which handler covers what cannot raise does not matter.
    """
    pending = [(first, second)]
    while pending:
        mine, its = pending.pop()
        rows = [list(instruction_rows(code)) for code in (mine, its)]
        inner = [[const for const in code.co_consts if isinstance(const, types.CodeType)] for code in (mine, its)]
        if rows[0] != rows[1] or len(inner[0]) != len(inner[1]):
            return False
        pending.extend(zip(*inner))
    return True


def instruction_rows(code: types.CodeType) -> Iterator[tuple[object, ...]]:
    """Yield of each instruction what it is, where it jumps, and where its exceptions go."""
    listing = normalise(read(code))
    flow = Flow(listing)
    bound = flow.bound()
    for place, item in enumerate(listing.instructions):
        raises = OPERATIONS[item.op].raises
        if item.op == "LOAD_FAST":
            raises = not bound[place] & flow.bit[str(item.arg)]
        handler = listing.handlers[item.handler].target if raises and item.handler >= 0 else -1
        yield item.op, "code" if isinstance(item.arg, Code) else key(item.arg), item.target, handler


def is_quiet_move(original: Function, changed: Function) -> bool:
    """Tell whether all that differs is where quiet assignments stand."""
    for body, other, bound, seen in bodies(original, changed):
        before, after = [ast.dump(stmt) for stmt in body], [ast.dump(stmt) for stmt in other]
        if before == after:
            continue
        places = [place for place, pair in enumerate(zip(before, after)) if pair[0] != pair[1]]
        if len(places) != 2 or places[1] != places[0] + 1 or sorted(before) != sorted(after):
            return False
        first, second = body[places[0]], body[places[1]]
        known = bound | assigned(body[: places[0]])
        return commutes(first, second, known, seen) or commutes(second, first, known, seen)
    return False


def is_read_moved(original: Function, changed: Function) -> bool:
    """Tell whether a value is computed where it is used first of all, with quiet assignments alone in between."""
    for body, other, bound, seen in bodies(original, changed):
        before, after = [ast.dump(stmt) for stmt in body], [ast.dump(stmt) for stmt in other]
        places = [place for place, pair in enumerate(zip(before, after)) if pair[0] != pair[1]]
        if not places:
            continue
        first, last = places[0], places[-1]
        read, use = body[first], other[last]
        if len(places) != 2 or not isinstance(other[first], ast.Pass) or not isinstance(read, ast.Assign):
            return False
        if len(before) != len(after) or not is_first(use, ast.dump(read.value)):
            return False
        known = bound | assigned(body[: first + 1])
        return all(commutes(stmt, read, known, seen) for stmt in body[first + 1 : last])
    return False


def is_first(stmt: ast.stmt, value: str) -> bool:
    """Tell whether a value is the first thing that a statement computes."""
    start = stmt.iter if isinstance(stmt, ast.For) else getattr(stmt, "value", getattr(stmt, "test", None))
    node: object = start
    while isinstance(node, ast.AST):
        if ast.dump(node) == value:
            return True
        node = getattr(node, "left", getattr(node, "func", getattr(node, "value", None)))
    return False


def bodies(
    original: Function, changed: Function
) -> Iterator[tuple[list[ast.stmt], list[ast.stmt], set[str], set[str]]]:
    """Yield the statement lists of both, inner ones first, with what is surely bound before and what handlers read."""
    arguments = {node.arg for node in ast.walk(original.args) if isinstance(node, ast.arg)}
    work: list[tuple[list[ast.stmt], list[ast.stmt], set[str], set[str]]] = [
        (original.body, changed.body, arguments, set())
    ]
    found = []
    while work:
        mine, its, bound, seen = work.pop()
        found.append((mine, its, bound, seen))
        for place, (one, two) in enumerate(zip(mine, its)):
            known = bound | assigned(mine[:place])
            if isinstance(one, (ast.For, ast.AsyncFor)):
                known |= {node.id for node in ast.walk(one.target) if isinstance(node, ast.Name)}
            inside = seen | (names(one) if isinstance(one, ast.Try) else set())
            for field in ("body", "orelse", "finalbody"):
                first, second = getattr(one, field, None), getattr(two, field, None)
                if isinstance(first, list) and isinstance(second, list):
                    work.append((first, second, known, inside))
            for handler, twin in zip(getattr(one, "handlers", ()), getattr(two, "handlers", ())):
                work.append((handler.body, twin.body, known, seen))
    yield from reversed(found)


def assigned(stmts: list[ast.stmt]) -> set[str]:
    """Return the variables that plain assignments in a row bind."""
    targets = [target for stmt in stmts if isinstance(stmt, ast.Assign) for target in stmt.targets]
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}


def names(node: ast.AST) -> set[str]:
    """Return all names in a node."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def commutes(quiet: ast.stmt, other: ast.stmt, bound: set[str], seen: set[str]) -> bool:
    """Tell whether a statement is a quiet assignment that may change places with another one."""
    if not isinstance(quiet, ast.Assign) or not all(isinstance(target, ast.Name) for target in quiet.targets):
        return False
    targets = {target.id for target in quiet.targets if isinstance(target, ast.Name)}
    stored = {node.id for node in ast.walk(other) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    return (
        is_quiet(quiet.value, bound)
        and not targets & names(other)
        and not names(quiet.value) & stored
        and not targets & seen
    )


def is_quiet(value: ast.expr, bound: set[str]) -> bool:
    """Tell whether computing a value runs no code of the program and cannot fail."""
    for node in ast.walk(value):
        if isinstance(node, ast.Dict) and not all(isinstance(key, ast.Constant) for key in node.keys):
            return False
        if isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
            return False
        if isinstance(node, ast.Name) and node.id not in bound:
            return False
        if not isinstance(node, (ast.Constant, ast.Name, ast.Tuple, ast.List, ast.Dict, ast.UnaryOp, *CONTEXTS)):
            return False
    return True


CONTEXTS = (ast.Load, ast.USub, ast.UAdd, ast.Not, ast.Invert)


def is_dead_store(codes: tuple[types.CodeType, types.CodeType]) -> bool:
    """Tell whether two codes are the same but for stores of constants to variables that nothing reads then."""
    rows = [live_rows(code) for code in codes]
    return rows[0] == rows[1] and bool(rows[0])


def live_rows(code: types.CodeType) -> list[tuple[object, ...]]:
    """Return the instructions without `CONST; STORE_FAST x` where x is not read before it is set again."""
    listing = normalise(read(code))
    flow = Flow(listing)
    live, items = flow.live(), listing.instructions
    dropped: set[int] = set()
    for place in range(len(items) - 1):
        store = items[place + 1]
        if items[place].op != "CONST" or store.op != "STORE_FAST" or place + 2 >= len(items):
            continue
        if any(item.target == place + 1 for item in items):
            continue
        if not live[place + 2] & flow.bit[str(store.arg)]:
            dropped |= {place, place + 1}
    kept = [place for place in range(len(items)) if place not in dropped]
    number = {place: new for new, place in enumerate(kept)}

    def moved(target: int) -> int:
        while target in dropped:
            target += 1
        return number.get(target, -1)

    return [
        (items[place].op, key(items[place].arg) if not isinstance(items[place].arg, Code) else "code",
         moved(items[place].target) if items[place].target >= 0 else -1)
        for place in kept
    ]  # fmt: skip
