"""Constants, variables, attributes, items, operators, displays and strings."""

from __future__ import annotations

import ast
import keyword
from collections import Counter
from collections.abc import Sequence
from typing import cast

from depyf.bytecode.versions.known import facts_of
from depyf.decompiler.graph.tac import Inst
from depyf.decompiler.lift.extent import note_place
from depyf.decompiler.lift.fold import Folder, Operands
from depyf.decompiler.lift.index import as_index
from depyf.decompiler.lift.nodes import (
    IMPURE,
    LOAD,
    LOCAL,
    PURE,
    Augmented,
    BuildClass,
    Cell,
    Common,
    Intrinsic,
    Object,
    Tuple_,
    constant,
    constant_of,
    is_literal,
    literal_value,
    variable,
)
from depyf.decompiler.lift.set_displays import one_by_one, repeat_last

BINARY: dict[str, type[ast.operator]] = {
    "+": ast.Add,
    "-": ast.Sub,
    "*": ast.Mult,
    "@": ast.MatMult,
    "/": ast.Div,
    "//": ast.FloorDiv,
    "%": ast.Mod,
    "**": ast.Pow,
    "<<": ast.LShift,
    ">>": ast.RShift,
    "&": ast.BitAnd,
    "|": ast.BitOr,
    "^": ast.BitXor,
}
UNARY: dict[str, type[ast.unaryop]] = {"-": ast.USub, "+": ast.UAdd, "~": ast.Invert, "not": ast.Not}
COMPARE: dict[str, type[ast.cmpop]] = {
    "<": ast.Lt,
    "<=": ast.LtE,
    "==": ast.Eq,
    "!=": ast.NotEq,
    ">": ast.Gt,
    ">=": ast.GtE,
}
CONVERSION = {None: -1, "": -1, "s": 115, "r": 114, "a": 97}


def const(folder: Folder, inst: Inst) -> None:
    """CONST: a literal, or an object without one."""
    if folder.uses.get(inst.defs[0]):
        folder.push(inst, constant_of(folder.graph.code, inst.arg), PURE)


def load(folder: Folder, inst: Inst) -> None:
    """LOAD_FAST and the other variable loads."""
    var = variable(inst, LOAD)
    if inst.op == "LOAD_FAST":
        folder.push(inst, var, IMPURE if inst.defs[0] in folder.graph.unsure else LOCAL, frozenset((var.id,)))
        return
    folder.push(inst, var)
    if inst.op == "LOAD_FAST_CLEAR":
        folder.emit(ast.Delete(targets=[variable(inst, ast.Del())]), inst.line, [var.id])


def load_unchanging(folder: Folder, inst: Inst) -> None:
    """LOAD_GLOBAL_UNCHANGING: a global with the same value at every load."""
    folder.push(inst, variable(inst, ast.Load()), PURE)


def load_closure(folder: Folder, inst: Inst) -> None:
    """LOAD_CLOSURE: a cell as a value."""
    folder.push(inst, Cell(name=inst.arg), PURE)


def delete(folder: Folder, inst: Inst) -> None:
    """DELETE_FAST and the other variable deletions."""
    var = variable(inst, ast.Del())
    folder.emit(ast.Delete(targets=[var]), inst.line, [var.id])


def load_attr(folder: Folder, inst: Inst) -> None:
    """LOAD_ATTR."""
    parts, reads, writes, _ = folder.taken(inst.uses)
    folder.push(inst, ast.Attribute(parts[0], inst.arg, LOAD), IMPURE, reads, writes)  # type: ignore[arg-type]


def delete_attr(folder: Folder, inst: Inst) -> None:
    """DELETE_ATTR."""
    (owner,) = folder.take(inst.uses).exprs
    target = ast.Attribute(value=owner, attr=cast(str, inst.arg), ctx=ast.Del())
    folder.emit(ast.Delete(targets=[target]), inst.line)


def load_subscr(folder: Folder, inst: Inst) -> None:
    """LOAD_SUBSCR."""
    parts, reads, writes, _ = folder.taken(inst.uses)
    folder.push(inst, ast.Subscript(parts[0], as_index(parts[1]), LOAD), IMPURE, reads, writes)


def delete_subscr(folder: Folder, inst: Inst) -> None:
    """DELETE_SUBSCR."""
    container, key = folder.take(inst.uses).exprs
    folder.emit(ast.Delete(targets=[ast.Subscript(value=container, slice=as_index(key), ctx=ast.Del())]), inst.line)


def unary(folder: Folder, inst: Inst) -> None:
    """UNARY."""
    op = UNARY[cast(str, inst.arg)]()
    folder.combine(inst, lambda parts: ast.UnaryOp(op=op, operand=parts[0]))


def binary(folder: Folder, inst: Inst) -> None:
    """BINARY."""
    op = BINARY[cast(str, inst.arg)]()
    folder.combine(inst, lambda parts: ast.BinOp(parts[0], op, parts[1]))


def inplace(folder: Folder, inst: Inst) -> None:
    """INPLACE: becomes an augmented assignment when it is stored."""
    op = BINARY[cast(str, inst.arg).rstrip("=")]()
    folder.combine(inst, lambda parts: Augmented(left=parts[0], op=op, right=parts[1]))


def compare(folder: Folder, inst: Inst) -> None:
    """COMPARE, IS, CONTAINS.

    A test for None that was one operation with its jump has no polarity of its own, so it is marked. So are IS and
    CONTAINS if the compiler keeps a `not` before them separate.
    """
    if inst.op == "COMPARE":
        op: ast.cmpop = COMPARE[cast(str, inst.arg)]()
    elif inst.op == "IS":
        op = ast.IsNot() if inst.arg else ast.Is()
    else:
        op = ast.NotIn() if inst.arg else ast.In()
    entry = folder.combine(inst, lambda parts: ast.Compare(parts[0], [op], [as_set(parts[1])]))
    if inst.op != "COMPARE" and not folder.graph.negates:
        entry.expr.apart = True  # type: ignore[attr-defined]
    place = folder.position - 2
    if inst.op == "IS" and 0 <= place < len(folder.insts) and folder.insts[place].offset == inst.offset:
        entry.expr.fused = True  # type: ignore[attr-defined]


def as_set(expr: ast.expr) -> ast.expr:
    """Return a constant frozenset as the set display of its source: in a test, or to iterate over."""
    if isinstance(expr, Object) and expr.order and all(is_literal(item) for item in expr.order):
        return ast.Set(elts=[constant(item) for item in expr.order])
    return expr


# -- displays ----------------------------------------------------------------------------


def build_tuple(folder: Folder, inst: Inst) -> None:
    """BUILD_TUPLE."""
    folder.combine(inst, lambda parts: ast.Tuple(parts, LOAD), effect=PURE)


def build_list(folder: Folder, inst: Inst) -> None:
    """BUILD_LIST."""
    folder.combine(inst, lambda parts: ast.List(parts, LOAD), effect=PURE)


def build_set(folder: Folder, inst: Inst) -> None:
    """BUILD_SET: hashes its elements."""
    folder.combine(inst, lambda parts: ast.Set(elts=one_by_one(folder, parts)), effect=IMPURE if inst.uses else PURE)


def build_map(folder: Folder, inst: Inst) -> None:
    """BUILD_MAP: keys and values alternate."""
    effect = IMPURE if inst.uses else PURE
    folder.combine(inst, lambda parts: ast.Dict(keys=list(parts[::2]), values=parts[1::2]), effect=effect)


def build_const_key_map(folder: Folder, inst: Inst) -> None:
    """BUILD_CONST_KEY_MAP."""
    keys: list[ast.expr | None] = [constant(key) for key in cast("tuple[object, ...]", inst.arg)]
    folder.combine(inst, lambda parts: ast.Dict(keys=keys, values=parts))


def build_slice(folder: Folder, inst: Inst) -> None:
    """BUILD_SLICE."""

    def make(parts: list[ast.expr]) -> ast.expr:
        bounds = [None if isinstance(part, ast.Constant) and part.value is None else part for part in parts]
        return ast.Slice(lower=bounds[0], upper=bounds[1], step=parts[2] if len(parts) == 3 else None)

    folder.combine(inst, make, effect=PURE)


def into_container(folder: Folder, inst: Inst) -> None:
    """LIST_APPEND, LIST_EXTEND, SET_ADD...: part of a display if that is still pending directly below."""
    container = folder.by_temp.get(inst.uses[0])
    values = [folder.by_temp[temp] for temp in inst.uses[1:] if temp in folder.by_temp]
    place = len(folder.pending) - len(values) - 1
    if (
        container is not None
        # A value with further uses is computed at its pending place, after the display.
        and all(value.uses == 1 and not value.shared for value in values)
        and not container.shared
        and not container.targets
        and place >= 0
        and folder.pending[place] is container
        and _absorbable(folder, inst, container.expr)
    ):
        taken = _take_item(folder, inst, inst.uses[1:])
        container.uses -= 1
        container.effect = max(container.effect, taken.effect, IMPURE if inst.op != "LIST_APPEND" else PURE)
        container.reads |= taken.reads
        container.writes |= taken.writes
        _absorb(inst.op, container.expr, taken.exprs)
        return
    operands = _take_item(folder, inst, inst.uses).exprs
    folder.emit(ast.Expr(value=_method_call(inst.op, operands)), inst.line)


def _take_item(folder: Folder, inst: Inst, temps: list[int]) -> Operands:
    """Return operands that end with an item; some compilers compute its value before its key."""
    if inst.op != "MAP_ADD" or not facts_of(folder.graph.code.version, str(folder.graph.code)).value_first:
        return folder.take(temps)
    *before, key, value = temps
    taken = folder.take([*before, value, key])
    taken.exprs[-2:] = taken.exprs[:-3:-1]
    return taken


MANY = {"SET_ADD": 31, "MAP_ADD": 16}
"""From this number of elements on, the compiler adds them one by one, and hashes each before it computes the next."""


def _absorbable(folder: Folder, inst: Inst, display: ast.expr) -> bool:
    """Return whether a display with one more element has the same effect, in the same order, as adding the element."""
    op = inst.op
    if op in ("LIST_APPEND", "LIST_EXTEND"):
        return isinstance(display, ast.List)
    if op == "SET_UPDATE":
        return isinstance(display, ast.Set)
    if op == "SET_ADD":
        return isinstance(display, ast.Set) and (
            _are_many(folder, inst) or any(isinstance(element, ast.Starred) for element in display.elts)
        )
    if op == "MAP_ADD" and isinstance(display, ast.Dict):
        return not display.keys or _are_many(folder, inst)
    return isinstance(display, ast.Dict)


def _are_many(folder: Folder, inst: Inst) -> bool:
    if folder.added is None:
        folder.added = Counter((other.op, other.uses[0]) for other in folder.insts if other.op in MANY)
    return folder.added[inst.op, inst.uses[0]] >= MANY[inst.op]


def _constant_items(display: ast.List | ast.Set, value: ast.expr) -> Sequence[object]:
    """Return the constants at the start of a display, if a value consists of all of them."""
    if isinstance(value, Object) and value.order:
        return value.order
    items = value.value if isinstance(value, Object) else literal_value(value)
    is_one = isinstance(items, tuple) and (isinstance(display, ast.List) or isinstance(value, Object))
    return cast("tuple[object, ...]", items) if is_one else ()


def _absorb(op: str, display: ast.expr, values: list[ast.expr]) -> None:
    if isinstance(display, (ast.List, ast.Set)):
        value = values[0]
        if op in ("LIST_APPEND", "SET_ADD"):
            display.elts.append(value)
        elif not display.elts and (items := _constant_items(display, value)):
            display.elts.extend(map(constant, items))
            if op == "SET_UPDATE" and isinstance(value, Object):
                repeat_last(display.elts)
        else:
            if display.elts and isinstance(first := display.elts[0], Object):
                # Before a `*`, the compiler adds constants one by one anyway.
                display.elts[0] = constant(first.value)
            display.elts.append(ast.Starred(value=value, ctx=ast.Load()))
    elif isinstance(display, ast.Dict):
        if op == "MAP_ADD":
            display.behind_star = _behind_star(display) + 1  # type: ignore[attr-defined]
            display.keys.append(values[0])
            display.values.append(values[1])
        elif isinstance(values[0], ast.Dict) and _is_chunk(op, display, values[0]):
            display.behind_star = _behind_star(display) + len(values[0].keys)  # type: ignore[attr-defined]
            display.keys.extend(values[0].keys)
            display.values.extend(values[0].values)
        else:
            display.behind_star = 0  # type: ignore[attr-defined]
            display.keys.append(None)
            display.values.append(values[0])


CHUNK = 16
"""The number of items of a long display that the compiler collects before it merges them."""


def _is_chunk(op: str, display: ast.Dict, items: ast.Dict) -> bool:
    """Return whether the compiler merges these items into a display, as opposed to a `**{...}` in the source.

    It collects items up to the next `**`, or until there are too many.
    """
    if not items.keys or None in items.keys:
        return False
    if op != "DICT_UPDATE" and not all(_may_name(key, op) for key in items.keys):
        return False
    if not display.keys:
        return op in ("BUILD_MAP_UNPACK", "BUILD_MAP_UNPACK_WITH_CALL")
    return _behind_star(display) % CHUNK == 0


def _behind_star(display: ast.Dict) -> int:
    """Return how many items a growing display has after its last `**`; they are counted once."""
    counted: int | None = getattr(display, "behind_star", None)
    if counted is not None:
        return counted
    return [*display.keys[::-1], None].index(None)


def _may_name(key: ast.expr | None, op: str) -> bool:
    return op == "BUILD_MAP_UNPACK" or is_keyword_name(literal_value(key))


def is_keyword_name(value: object) -> bool:
    """Return whether a value can be written as the name of an argument."""
    return isinstance(value, str) and value.isidentifier() and not keyword.iskeyword(value)


METHOD = {
    "LIST_APPEND": "append",
    "LIST_EXTEND": "extend",
    "SET_ADD": "add",
    "SET_UPDATE": "update",
    "DICT_UPDATE": "update",
    "DICT_MERGE": "update",
}


def _method_call(op: str, operands: list[ast.expr]) -> ast.expr:
    container = operands[0]
    if op == "MAP_ADD":
        owner = ast.Attribute(value=container, attr="__setitem__", ctx=ast.Load())
        return ast.Call(func=owner, args=operands[1:], keywords=[])
    owner = ast.Attribute(value=container, attr=METHOD[op], ctx=ast.Load())
    return ast.Call(func=owner, args=operands[1:], keywords=[])


def list_to_tuple(folder: Folder, inst: Inst) -> None:
    """LIST_TO_TUPLE: `(*a, b)`, or the arguments of a call."""

    def make(parts: list[ast.expr]) -> ast.expr:
        if isinstance(parts[0], ast.List):
            return Tuple_(elts=parts[0].elts, ctx=ast.Load())
        return ast.Tuple(elts=[ast.Starred(value=parts[0], ctx=ast.Load())], ctx=ast.Load())

    folder.combine(inst, make, effect=PURE)


def build_unpack(folder: Folder, inst: Inst) -> None:
    """BUILD_TUPLE_UNPACK and its variants of 3.8 and older."""

    def make(parts: list[ast.expr]) -> ast.expr:
        if inst.op.startswith("BUILD_MAP"):
            display = ast.Dict(keys=[], values=[])
            op = inst.op if len(parts) > 1 else "DICT_UPDATE"
            for part in parts:
                _absorb(op, display, [part])
            if inst.op == "BUILD_MAP_UNPACK":
                display.is_whole = True  # type: ignore[attr-defined]  # `f(**{**a, 'b': c})` is no `f(**a, b=c)`.
            return display
        elements: list[ast.expr] = []
        for part in parts:
            if type(part) is ast.Tuple and len(parts) > 1:
                elements.extend(part.elts)
            elif isinstance(items := literal_value(part), tuple) and len(parts) > 1:
                elements.extend(constant(item) for item in items)
            else:
                elements.append(ast.Starred(value=part, ctx=ast.Load()))
        if inst.op.startswith("BUILD_LIST"):
            return ast.List(elts=elements, ctx=ast.Load())
        if inst.op.startswith("BUILD_SET"):
            return ast.Set(elts=elements)
        return (Tuple_ if "WITH_CALL" in inst.op else ast.Tuple)(elts=elements, ctx=ast.Load())

    folder.combine(inst, make)


# -- strings -----------------------------------------------------------------------------


class Formatted(ast.JoinedStr):
    """The f-string of a single replacement field, part of a longer one if BUILD_STRING takes it."""


def convert(folder: Folder, inst: Inst) -> None:
    """CONVERT: `!r` and its variants."""
    kind = CONVERSION[cast("str | None", inst.arg)]

    def make(parts: list[ast.expr]) -> ast.expr:
        field = ast.FormattedValue(value=parts[0], conversion=kind, format_spec=None)
        note_place(field, folder.graph.place(inst.offset))
        return Formatted(values=[field])

    entry = folder.combine(inst, make)
    entry.expr.converted = True  # type: ignore[attr-defined]


def format_value(folder: Folder, inst: Inst) -> None:
    """FORMAT: one replacement field."""
    spec, conversion = inst.arg if isinstance(inst.arg, tuple) else (inst.arg, None)

    def make(parts: list[ast.expr]) -> ast.expr:
        value = parts[0]
        format_spec = joined([parts[1]]) if spec else None
        if getattr(value, "converted", False):
            assert isinstance(value, Formatted)
            (field,) = value.values
            assert isinstance(field, ast.FormattedValue)
            field.format_spec = format_spec
            return Formatted(values=[field])
        field = ast.FormattedValue(value=value, conversion=CONVERSION[conversion], format_spec=format_spec)
        note_place(field, folder.graph.place(inst.offset))
        return Formatted(values=[field])

    folder.combine(inst, make)


def build_string(folder: Folder, inst: Inst) -> None:
    """BUILD_STRING."""
    folder.combine(inst, joined, effect=PURE)


def joined(parts: list[ast.expr]) -> ast.JoinedStr:
    """Return the f-string of these parts."""
    values: list[ast.expr] = []
    for part in parts:
        if type(part) is Formatted:
            values.extend(part.values)
        elif type(part) is ast.JoinedStr and len(parts) == 1:
            return part
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            values.append(part)
        else:
            values.append(ast.FormattedValue(value=part, conversion=-1, format_spec=None))
    return ast.JoinedStr(values=values)


# -- the rest ------------------------------------------------------------------------------


def build_class(folder: Folder, inst: Inst) -> None:
    """LOAD_BUILD_CLASS."""
    folder.push(inst, BuildClass(type_params=[]), PURE)


def common(folder: Folder, inst: Inst) -> None:
    """LOAD_COMMON: a builtin that the compiler refers to, independent of the name's binding."""
    folder.push(inst, Common(id=cast(str, inst.arg), ctx=ast.Load()), PURE)


def intrinsic(folder: Folder, inst: Inst) -> None:
    """INTRINSIC: kept for the passes that know its meaning.

    A function is above its type parameters but is the first operand: they are popped in the order of computation.
    """
    if inst.arg == "INTRINSIC_SET_FUNCTION_TYPE_PARAMS":
        inst.uses.reverse()
        folder.combine(inst, lambda parts: Intrinsic(name=inst.arg, args=parts[::-1]))
    else:
        folder.combine(inst, lambda parts: Intrinsic(name=inst.arg, args=parts))


def to_bool(folder: Folder, inst: Inst) -> None:
    """TO_BOOL that is not directly followed by a test."""
    double = lambda parts: ast.UnaryOp(op=ast.Not(), operand=ast.UnaryOp(op=ast.Not(), operand=parts[0]))  # noqa: E731
    folder.combine(inst, double)
