"""Annotated variables of modules and classes with lazy annotations.

Before: __annotate__ = <function: {'x': int if 0 in __conditional_annotations__, 'y': str}>
        x = 1; __conditional_annotations__.add(0)
After:  x: int = 1; y: str

A conditional annotation has a number, and the body records that it was reached. The others leave no trace in the body:
they are placed on their lines, in the order in which the function evaluates them.
"""

from __future__ import annotations

import ast
from collections import deque
from typing import TypeGuard

from depyf.bytecode.code import CO_OPTIMIZED, Code
from depyf.bytecode.normalise import normalise
from depyf.bytecode.records import dataclass
from depyf.decompiler.lift.nodes import Function, Temp, TryStar, Var, literal, literal_value
from depyf.decompiler.passes.annotations import NAME, is_definition, none_reached
from depyf.decompiler.passes.body import Bodies
from depyf.decompiler.passes.class_body import LEADING
from depyf.decompiler.passes.deferred import deferred_statements, written_in
from depyf.decompiler.passes.registry import Stage, registers
from depyf.decompiler.passes.walk import nodes, rewrite_sequences
from depyf.decompiler.steps import step

MAKERS = ("__annotate__", "__annotate_func__")
REACHED = "__conditional_annotations__"
CLASS_CELL = "__classdict__"
HEAD = (*LEADING, "__doc__")
"""The names that a class body binds before its own statements."""


@dataclass(slots=True)
class Deferred:
    """One annotation: its number if it is conditional, and its line, 0 if unknown."""

    name: str
    expr: ast.expr
    number: int | None
    line: int


@registers(
    "deferred-annotations",
    Stage.BODY,
    "move annotations from `__annotate__` to their variables",
    takes=("body.stmts", "code", "bodies"),
    before={"annotations": "it removes the set of conditional annotations, which precedes their set-up"},
)
def restore_deferred_annotations(body: list[ast.stmt], code: Code, bodies: Bodies) -> list[ast.stmt]:
    """Write the annotations of a module's or class's variables where they belong.

    Args:
        body: the statements of the module or class.
        code: its code object; that of a function has no such annotations.
        bodies: the bodies of nested code objects, by identity.

    Returns:
        the statements, without the function that evaluates the annotations.
    """
    if code.flags & CO_OPTIMIZED or not _may_defer(code):
        return body
    maker = next((stmt for stmt in body if _makes(stmt)), None)
    if isinstance(maker, ast.Assign):
        annotations = _annotations(maker.value, bodies, code)
        if annotations is None:
            return body
        step("line {}: remove the function that evaluates {} annotations", maker.lineno, len(annotations))
        body = [stmt for stmt in body if stmt is not maker]
    else:
        annotations = []
    kept = [stmt for stmt in body if not _is_store(stmt, REACHED)]
    if not annotations:
        return _with_cells(kept, code, has_set=len(kept) < len(body))
    body = _place_numbered(kept, annotations)
    return _place_others(body, [annotation for annotation in annotations if annotation.number is None])


def _may_defer(code: Code) -> bool:
    """Return whether code has a function that evaluates annotations, or a cell that only annotations explain."""
    named = (*code.names, *code.varnames, *code.cellvars, *code.freevars)
    if REACHED in named or CLASS_CELL in code.cellvars:
        return True
    return any(isinstance(const, Code) and const.name == MAKERS[0] for const in code.consts)


def _with_cells(body: list[ast.stmt], code: Code, *, has_set: bool) -> list[ast.stmt]:
    """Write an annotation of a target that is not a name if only that explains existing cells: it is not evaluated."""
    consts = [const for const in code.consts if isinstance(const, Code)]
    inner = {name for const in consts for name in const.freevars}
    # A `def` has a scope for its annotations even if it has none.
    is_implied = CLASS_CELL in inner or any(not const.name.startswith("<") for const in consts)
    if has_set and REACHED not in inner:
        added = none_reached(code)
    elif CLASS_CELL in code.cellvars and not is_implied:
        target = Var(id=NAME, ctx=ast.Store(), scope="name")
        added = ast.AnnAssign(target=target, annotation=literal(None), value=None, simple=0, lineno=0)
    else:
        return body
    step("an annotation that is never stored implies a cell")
    place = len(body) - bool(body and isinstance(body[-1], ast.Return))
    return [*body[:place], added, *body[place:]]


def _makes(stmt: ast.stmt) -> bool:
    """Return whether a statement binds the function that evaluates the annotations."""
    if not isinstance(stmt, ast.Assign) or not any(_is_store(stmt, name) for name in MAKERS):
        return False
    return isinstance(stmt.value, Function) and stmt.value.code.name == MAKERS[0]


def _is_store(stmt: ast.stmt, name: str) -> TypeGuard[ast.Assign]:
    """Return whether a statement does nothing but store to the variable of that name."""
    if not isinstance(stmt, ast.Assign) or len(stmt.targets) != 1:
        return False
    target = stmt.targets[0]
    return isinstance(target, Var) and _plain(target.id) == name and target.scope != "global"


def _gives_value(stmt: ast.stmt, name: str) -> bool:
    """Return whether a statement may be the assignment in the annotation of a variable."""
    return _is_store(stmt, name) and not is_definition(stmt)


def _plain(name: str) -> str:
    """Return the name that code has for a variable.

    Inside a class with such a set, the program's own set is numbered (`bytecode/normalise.apart`).
    """
    return name.partition(".")[0]


# -- the results of the function ------------------------------------------------------------------


def _annotations(function: ast.expr, bodies: Bodies, around: Code) -> list[Deferred] | None:
    """Return the annotations in order, or None if the statements are not those of such a function."""
    match deferred_statements(function, bodies):
        case [ast.Assign(targets=[Temp() as result], value=ast.Dict(keys=[])), *stmts, ast.Return()]:
            pass
        case _:
            return None
    assert isinstance(function, Function)
    lines = _lines(function.code)
    deferreds: list[Deferred] = []
    for stmt in stmts:
        number = None
        if isinstance(stmt, ast.If) and len(stmt.body) == 1 and not stmt.orelse:
            number, stmt = _number(stmt.test), stmt.body[0]
            if number is None:
                return None
        item = _item(stmt, result)
        if item is None:
            return None
        line = lines[len(deferreds)] if len(deferreds) < len(lines) else 0
        deferreds.append(Deferred(item[0], written_in(item[1], around), number, line))
    return deferreds


def _number(test: ast.expr) -> int | None:
    """Return the number in `number in __conditional_annotations__`."""
    match test:
        case ast.Compare(left=number, ops=[ast.In()], comparators=[owner]):
            return _mark(owner, number)
    return None


def _reaches(stmt: ast.AST) -> int | None:
    """Return the number in `__conditional_annotations__.add(number)`."""
    match stmt:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr="add"), args=[number])):
            return _mark(owner, number)
    return None


def _mark(owner: ast.expr, expr: ast.expr) -> int | None:
    """Return the number of an annotation in the set of reached annotations, or None if it is another set."""
    number = literal_value(expr)
    is_set = isinstance(owner, Var) and _plain(owner.id) == REACHED
    return number if is_set and isinstance(number, int) else None


def _item(stmt: ast.stmt, result: Temp) -> tuple[str, ast.expr] | None:
    """Return name and value of `result['name'] = value`."""
    match stmt:
        case ast.Assign(targets=[ast.Subscript(value=Temp(temp=result.temp), slice=key)], value=value):
            name = literal_value(key)
            return (name, value) if isinstance(name, str) else None
    return None


def _lines(code: Code) -> list[int]:
    """Return the lines of the annotated variables, 0 if unknown: of the constants that are keys of the stored items."""
    instructions = normalise(code).instructions
    return [
        before.line or 0
        for before, now in zip(instructions, instructions[1:])
        if now.op == "STORE_SUBSCR" and before.op == "CONST"
    ]


# -- placing annotations ---------------------------------------------------------------------------


def _in_finally(body: list[ast.stmt]) -> set[int]:
    """Return the numbers of the annotations in a `finally`."""
    numbers: set[int] = set()
    for node in nodes(body):
        if isinstance(node, (ast.Try, TryStar)):
            numbers.update(number for inner in nodes(node.finalbody) if (number := _reaches(inner)) is not None)
    return numbers


def _place_numbered(body: list[ast.stmt], annotations: list[Deferred]) -> list[ast.stmt]:
    """Write the numbered annotations where the body records that it has reached them.

    An annotation that no statement reaches was in code that the compiler has dropped. It goes before the next one. An
    annotation in a `finally` has a number for each copy, of which one is left.
    """
    marked = {number for node in nodes(body) if (number := _reaches(node)) is not None}
    by_number = {deferred.number: deferred for deferred in annotations if deferred.number is not None}
    lost = sorted(by_number.keys() - marked)
    if lost:
        copied = {by_number[number].name for number in _in_finally(body) if number in by_number}
        lost = [number for number in lost if by_number[number].name not in copied]

    def sequence(stmts: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for stmt in stmts:
            number = _reaches(stmt)
            annotation = by_number.get(number) if number is not None else None
            if annotation is None or number is None:
                out.append(stmt)
                continue
            annotated = _annotated(annotation, out.pop() if out and _gives_value(out[-1], annotation.name) else None)
            while lost and lost[0] < number:
                out.append(_never(by_number[lost.pop(0)]))
            out.append(annotated)
        return out

    body = rewrite_sequences(body, sequence)
    last = len(body) - 1 if body and isinstance(body[-1], ast.Return) else len(body)
    body[last:last] = [_never(by_number[number]) for number in lost]
    return body


def _place_others(body: list[ast.stmt], annotations: list[Deferred]) -> list[ast.stmt]:
    """Write the annotations without a number in order, each at its assignment or on its own line."""
    place = 0
    while place < len(body) and any(_is_store(body[place], name) for name in HEAD):
        place += 1
    stores = _stores(body)
    out = body[:place]
    for deferred in annotations:
        at = _assignment(body, deferred, stores.get(deferred.name, deque()), place)
        until = at if at is not None else _by_line(body, deferred, place)
        out += body[place:until]
        out.append(_annotated(deferred, body[at] if at is not None else None))
        place = until + (at is not None)
    return out + body[place:]


def _stores(body: list[ast.stmt]) -> dict[str, deque[int]]:
    """Return, by variable, the places of the statements that only store to it."""
    stores: dict[str, deque[int]] = {}
    for place, stmt in enumerate(body):
        target = stmt.targets[0] if isinstance(stmt, ast.Assign) else None
        if isinstance(target, Var) and _gives_value(stmt, target.id):
            stores.setdefault(target.id, deque()).append(place)
    return stores


def _assignment(body: list[ast.stmt], annotation: Deferred, stores: deque[int], start: int) -> int | None:
    """Return the place of the assignment for an annotation: on its line, if lines are known."""
    while stores and (stores[0] < start or 0 < _line(body[stores[0]]) < annotation.line):
        stores.popleft()
    if not stores:
        return None
    line = _line(body[stores[0]])
    return stores[0] if not annotation.line or line in (0, annotation.line) else None


def _line(stmt: ast.stmt) -> int:
    """Return the line of a statement, 0 if unknown."""
    return getattr(stmt, "lineno", 0)


def _by_line(body: list[ast.stmt], annotation: Deferred, start: int) -> int:
    """Return where the line of an annotation begins, searching from a place on."""
    end = start
    while annotation.line and end < len(body):
        if isinstance(body[end], ast.Return) or _line(body[end]) > annotation.line:
            break
        end += 1
    return end


def _annotated(annotation: Deferred, assignment: ast.stmt | None) -> ast.AnnAssign:
    step("the annotation of {} moves to its variable", annotation.name)
    target: ast.expr = Var(id=annotation.name, ctx=ast.Store(), scope="name")
    value = None
    if isinstance(assignment, ast.Assign):
        target, value = assignment.targets[0], assignment.value
    assert isinstance(target, Var)
    line = assignment.lineno if assignment is not None else annotation.line
    return ast.AnnAssign(target=target, annotation=annotation.expr, value=value, simple=1, lineno=line)


def _never(annotation: Deferred) -> ast.stmt:
    return ast.If(test=literal(False), body=[_annotated(annotation, None)], orelse=[], lineno=annotation.line)
