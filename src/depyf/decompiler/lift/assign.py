"""Stores: plain, chained, augmented, unpacked and parallel assignment."""

from __future__ import annotations

import ast

from depyf.decompiler.graph.tac import Inst
from depyf.decompiler.lift.definitions import ANNOTATE, consumer
from depyf.decompiler.lift.fold import Folder, is_augmented
from depyf.decompiler.lift.imports import store_import
from depyf.decompiler.lift.index import as_index
from depyf.decompiler.lift.nodes import PURE, Augmented, Entry, Ref, SetupAnnotations, Temp, Var, constant, variable
from depyf.decompiler.lift.slots import Slots

NAME_STORES = frozenset({"STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF"})
EVALUATOR_PARAMETERS = ((), ("format",), (".format",))
"""The parameters of functions that the compiler makes for the lazy evaluation of annotations and type parameters."""

STORES = NAME_STORES | {"STORE_ATTR", "STORE_SUBSCR", "UNPACK_SEQUENCE", "UNPACK_EX"}
CONTAINERS = frozenset({"BUILD_TUPLE", "BUILD_MAP", "BUILD_CONST_KEY_MAP"})
"""The operations that collect the annotations of a function."""
ROOT = -3
"""Stands for the temporary of an unpacked value that is not pending itself."""


def store_name(folder: Folder, inst: Inst) -> None:
    """STORE_FAST, STORE_NAME, STORE_GLOBAL, STORE_DEREF."""
    (temp,) = inst.uses
    target = variable(inst, ast.Store())
    if temp < 0:
        # A null unbinds a bound or unbound variable; a plain `del` would raise for an unbound one.
        folder.emit(ast.Assign(targets=[target], value=constant(None)), inst.line, [target.id])
        folder.append(ast.Delete(targets=[variable(inst, ast.Del())]), inst.line)
        return
    entry = folder.by_temp.get(temp)
    if entry is not None and store_import(folder, inst, entry, target):
        return
    if entry is not None and is_augmented(entry) and entry is folder.pending[-1] and entry.uses == 1:
        augmented = entry.expr
        assert isinstance(augmented, Augmented)
        if isinstance(augmented.left, Var) and (augmented.left.id, augmented.left.scope) == (target.id, target.scope):
            folder.discard(entry)
            stmt = ast.AugAssign(target=target, op=augmented.op, value=augmented.right)
            folder.emit(stmt, inst.line, [target.id])
            return
    _store(folder, inst, temp, target)


def setup_annotations(folder: Folder, inst: Inst) -> None:
    """SETUP_ANNOTATIONS: kept for the pass that knows which statement implies it."""
    folder.emit(SetupAnnotations(), inst.line)


def store_attr(folder: Folder, inst: Inst) -> None:
    """STORE_ATTR: value, object."""
    value, obj = inst.uses
    if _augmented_attribute(folder, inst, value, obj):
        return
    make = lambda operands: ast.Attribute(value=operands[0], attr=str(inst.arg), ctx=ast.Store())  # noqa: E731
    _store_into(folder, inst, [value, obj], make)


def store_subscr(folder: Folder, inst: Inst) -> None:
    """STORE_SUBSCR: value, container, key."""
    value, container, key = inst.uses
    if _augmented_item(folder, inst, value, container, key):
        return
    make = lambda operands: ast.Subscript(value=operands[0], slice=as_index(operands[1]), ctx=ast.Store())  # noqa: E731
    _store_into(folder, inst, [value, container, key], make)


def _store_into(folder: Folder, inst: Inst, uses: list[int], make) -> None:  # type: ignore[no-untyped-def]
    """Store to a target whose parts are themselves values, computed after the value."""
    value, *parts = uses
    slots, pending = folder.slots, folder.pending
    after = [part for part in parts if part in folder.by_temp]
    place = len(pending) - len(after)
    in_order = [entry.temp for entry in pending[place:]] == after
    if in_order and slots is not None and slots.expects(value):
        # A computation between the unpacking and a target comes before the store.
        in_order = place > 0 and pending[place - 1] is slots.entry
    if in_order:
        _store(folder, inst, value, make(folder.take(parts).exprs))
        return
    taken, *operands = folder.take(uses).exprs
    target = make(operands)
    folder.locate(target, inst)
    folder.emit(ast.Assign(targets=[target], value=taken), inst.line)


def _store(folder: Folder, inst: Inst, temp: int, target: ast.expr) -> None:
    """Store a value to a finished target."""
    folder.locate(target, inst)
    slots = folder.slots
    if slots is not None and slots.expects(temp) and not _comes_too_late(folder, slots, target):
        slots.fill(temp, target)
        slots.close()
        return
    entry = folder.by_temp.get(temp)
    if entry is None:
        folder.emit(ast.Assign(targets=[target], value=Temp(temp=temp)), inst.line, _stored(target))
        return
    last = folder.pending[-1] is entry
    if last and not entry.shared and not is_augmented(entry) and (slots is None or entry is not slots.entry):
        _store_last(folder, inst, entry, target)
        return
    if slots is not None:
        slots.abandon()
    if not last and (slots := _begin_parallel(folder, entry)) is not None:
        slots.fill(temp, target)
        slots.close()
        return
    (value,) = folder.take([temp]).exprs
    folder.emit(ast.Assign(targets=[target], value=value), inst.line, _stored(target))


def _stored(target: ast.expr) -> list[str]:
    """Return the name that a store to a target sets, if it is a variable."""
    return [target.id] if isinstance(target, ast.Name) else []


def _store_last(folder: Folder, inst: Inst, entry: Entry, target: ast.expr) -> None:
    """Store the value that was computed last; a value with later uses gets another target."""
    if entry.uses > 1:
        if folder.slots is not None and not isinstance(target, ast.Name):
            folder.slots.abandon()  # Only a part of the next target can be named: `(a := b).c, d = e`.
        entry.targets.append(target)
        entry.uses -= 1
        if not isinstance(entry.writes, set):
            entry.writes = set(entry.writes)
        entry.writes.update(_stored(target))
        entry.effect = max(entry.effect, 2)
    elif not _swapped_parallel(folder, inst, target):
        folder.discard(entry)
        stmt: ast.stmt = ast.Assign([*entry.targets, target], entry.expr)
        if folder.drops_next(entry.temp) and (named := _named([*entry.targets, target], entry.expr)) is not None:
            stmt = ast.Expr(value=named)
        folder.emit(stmt, inst.line, _stored(target))


def _named(targets: list[ast.expr], value: ast.expr) -> ast.expr | None:
    """Return `(b := (a := value))` for the targets a and b, if they are variables."""
    for target in targets:
        if not isinstance(target, ast.Name):
            return None
        value = ast.NamedExpr(target=target, value=value)
    return value


def _comes_too_late(folder: Folder, slots: Slots, target: ast.expr) -> bool:
    """Return whether a store after other pending values than the unpacking can be observed."""
    if folder.pending[-1] is slots.entry or not isinstance(target, Var):
        return False
    return target.scope != "fast" or any(target.id in other.writes for other in folder.pending)


# -- unpacking --------------------------------------------------------------------------


def unpack(folder: Folder, inst: Inst) -> None:
    """UNPACK_SEQUENCE and UNPACK_EX: targets follow in the order of the values."""
    (temp,) = inst.uses
    if inst.op == "UNPACK_SEQUENCE" and inst.arg == 1 and _is_operand(folder, inst.defs[0]):
        folder.combine(inst, lambda parts: ast.Starred(value=parts[0], ctx=ast.Load()))
        return
    starred = None if inst.op == "UNPACK_SEQUENCE" else inst.arg[0]  # type: ignore[index]
    first = folder.by_temp.get(temp)
    if folder.slots is None and first is not None and first is not folder.pending[-1]:
        _begin_parallel(folder, first)
    if folder.slots is not None and folder.slots.expects(temp):
        slots = folder.slots
        holder, number = slots.place[temp]
        slots.open.pop()
        target = slots.unpack(inst.defs, starred)
        folder.locate(target, inst)
        if isinstance(holder, ast.Starred):
            holder.value = target
        else:
            holder.elts[number] = target
        slots.close()
        return
    if folder.slots is not None:
        folder.slots.abandon()
    entry = folder.by_temp.get(temp)
    if entry is None or entry is not folder.pending[-1] or entry.shared or is_augmented(entry):
        taken = folder.take([temp])
        entry = Entry(ROOT, taken.exprs[0], 2, taken.reads, taken.writes, 1, inst.line)
        folder.pending.append(entry)
        folder.by_temp[ROOT] = entry
    entry.uses -= 1
    slots = folder.slots = Slots(folder, entry)
    target = slots.unpack(inst.defs, starred)
    folder.locate(target, inst)
    entry.targets.append(target)
    entry.effect = 2
    slots.close()


def _is_operand(folder: Folder, temp: int) -> bool:
    """Return whether a value is the only one of `*args: *Ts`, or of `*Ts = *x`: an operand of annotations.

    Annotations are part of a function made here, or the result of a function that evaluates them lazily.
    """
    if not folder.uses.get(temp):
        return False
    user = consumer(folder, temp)
    if user is None:
        # The function that evaluates the default of a type parameter `*Ts` returns only that.
        return is_evaluator(folder)
    if user.op not in CONTAINERS:
        return False
    maker = consumer(folder, user.defs[0])
    if maker is None:
        return folder.graph.code.name.startswith(ANNOTATE) or is_evaluator(folder)
    return maker.op in ("MAKE_FUNCTION", "SET_FUNCTION_ATTRIBUTE")


def is_evaluator(folder: Folder) -> bool:
    """Return whether a function only evaluates something lazily."""
    if folder.graph.code.parameters not in EVALUATOR_PARAMETERS:
        return False
    return not any(inst.op in NAME_STORES for block in folder.graph.live() for inst in block.insts)


# -- a, b = b, a --------------------------------------------------------------------------


def _begin_parallel(folder: Folder, entry: Entry) -> Slots | None:
    """Begin a parallel assignment at a store of a value with pending values after it, if it is one."""
    start = next(place for place, other in enumerate(folder.pending) if other is entry)
    values = folder.pending[start:]
    if not _all_stored(folder, values):
        return None
    del folder.pending[start:]
    for other in values:
        del folder.by_temp[other.temp]
    effect = max(other.effect for other in values)
    reads = frozenset().union(*(other.reads for other in values))
    writes = frozenset().union(*(other.writes for other in values))
    value = ast.Tuple(elts=[other.expr for other in values], ctx=ast.Load())
    root = Entry(ROOT, value, effect, reads, writes, 0, entry.line)
    folder.pending.append(root)
    folder.by_temp[ROOT] = root
    slots = folder.slots = Slots(folder, root)
    root.targets.append(slots.unpack([other.temp for other in values], None))
    return slots


def _all_stored(folder: Folder, values: list[Entry]) -> bool:
    """Return whether the next operations store exactly these values, in this order."""
    if any(other.uses != 1 or other.shared or other.targets or is_augmented(other) for other in values):
        return False
    temps = [other.temp for other in values]
    stored = 0
    start = folder.position - 1
    for inst in folder.insts[start : start + 8 * len(temps) + 8]:
        used = [temp for temp in inst.uses if temp in temps]
        if not used:
            continue
        if inst.op not in STORES or used != [temps[stored]] or inst.uses[0] != temps[stored]:
            return False
        stored += 1
        if stored == len(temps):
            return True
    return False


def _swapped_parallel(folder: Folder, inst: Inst, target: ast.expr) -> bool:
    """Recognise `a, b = x, y` if the compiler stores b before a: since 3.12, for different variables.

    Earlier targets of y go into the expression: `a, b = x, (c := y)`.
    """
    if inst.op != "STORE_FAST":
        return False
    last = _named(folder.pending[-1].targets, folder.pending[-1].expr)
    if last is None:
        return False
    count = 1
    stored = {inst.arg}
    targets: list[ast.expr] = [target]
    while count < len(folder.pending) and folder.position + count - 2 < len(folder.insts) - 1:
        following = folder.insts[folder.position + count - 1]
        before = folder.pending[-1 - count]
        plain = before.uses == 1 and not before.shared and not before.targets and not is_augmented(before)
        if following.op != "STORE_FAST" or following.uses != [before.temp] or following.arg in stored or not plain:
            break
        stored.add(following.arg)
        targets.append(variable(following, ast.Store()))
        count += 1
    if count == 1:
        return False
    values = folder.pending[-count:]
    del folder.pending[-count:]
    for other in values:
        del folder.by_temp[other.temp]
    folder.position += count - 1
    names = [name.id for name in targets if isinstance(name, ast.Name)]
    left = ast.Tuple(elts=targets[::-1], ctx=ast.Store())
    right = ast.Tuple(elts=[*(other.expr for other in values[:-1]), last], ctx=ast.Load())
    folder.emit(ast.Assign(targets=[left], value=right), inst.line, names)
    return True


# -- x.a += y, x[k] += y -----------------------------------------------------------------


def _augmented_tail(folder: Folder, value: int, parts: list[int]) -> Augmented | None:
    """Return the in-place operation if it is pending last, right after the parts of its target."""
    tail = folder.pending[-1 - len(parts) :]
    if [other.temp for other in tail] != [*parts, value]:
        return None
    if tail[-1].uses != 1 or any(part.uses != 1 for part in tail[:-1]):
        return None
    expr = tail[-1].expr
    return expr if isinstance(expr, Augmented) else None


def _augmented_attribute(folder: Folder, inst: Inst, value: int, obj: int) -> bool:
    augmented = _augmented_tail(folder, value, [obj])
    if augmented is None or not isinstance(augmented.left, ast.Attribute) or augmented.left.attr != inst.arg:
        return False
    if not _refers(augmented.left.value, obj):
        return False
    owner = folder.pending[-2]
    target = ast.Attribute(value=owner.expr, attr=augmented.left.attr, ctx=ast.Store())
    _emit_augmented(folder, inst, target, augmented, 2)
    return True


def _augmented_item(folder: Folder, inst: Inst, value: int, container: int, key: int) -> bool:
    augmented = _augmented_tail(folder, value, [container, key])
    if augmented is None and _augmented_slice(folder, inst):
        return True
    if augmented is None or not isinstance(augmented.left, ast.Subscript):
        return False
    if not (_refers(augmented.left.value, container) and _refers(augmented.left.slice, key)):
        return False
    owner, index = folder.pending[-3], folder.pending[-2]
    target = ast.Subscript(value=owner.expr, slice=as_index(index.expr), ctx=ast.Store())
    _emit_augmented(folder, inst, target, augmented, 3)
    return True


def _augmented_slice(folder: Folder, inst: Inst) -> bool:
    """Recognise `x[a:b] += y` if the slice is built from its bounds once for the load and once for the store (3.12)."""
    tail = folder.pending[-5:]
    if len(tail) < 5 or tail[4].uses != 1 or any(bound.uses for bound in tail[1:3]):
        return False
    container, lower, upper, value, key = tail
    if inst.uses != [value.temp, container.temp, key.temp] or container.uses != 1 or value.uses != 1:
        return False
    if not isinstance(value.expr, Augmented) or not isinstance(value.expr.left, ast.Subscript):
        return False
    bounds = lower.temp, upper.temp
    if not (_is_slice(value.expr.left.slice, *bounds) and _is_slice(key.expr, *bounds)):
        return False
    if not _refers(value.expr.left.value, container.temp):
        return False
    ends = [None if isinstance(end.expr, ast.Constant) and end.expr.value is None else end.expr for end in tail[1:3]]
    target = ast.Subscript(value=container.expr, slice=ast.Slice(lower=ends[0], upper=ends[1]), ctx=ast.Store())
    _emit_augmented(folder, inst, target, value.expr, 5)
    return True


def _is_slice(expr: ast.expr, lower: int, upper: int) -> bool:
    """Return whether an expression is the slice between the values of two temporaries."""
    if not isinstance(expr, ast.Slice) or expr.lower is None or expr.upper is None or expr.step is not None:
        return False
    return _refers(expr.lower, lower) and _refers(expr.upper, upper)


def _refers(expr: ast.expr, temp: int) -> bool:
    return isinstance(expr, Ref) and expr.entry.temp == temp


def _emit_augmented(
    folder: Folder, inst: Inst, target: ast.Attribute | ast.Subscript, augmented: Augmented, count: int
) -> None:
    for entry in folder.pending[-count:]:
        del folder.by_temp[entry.temp]
    del folder.pending[-count:]
    folder.emit(ast.AugAssign(target=target, op=augmented.op, value=augmented.right), inst.line)


__all__ = ["PURE", "store_attr", "store_name", "store_subscr", "unpack", "variable"]
