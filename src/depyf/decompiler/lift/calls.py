"""Calls, functions made in place, imports, generators and the ends of blocks."""

from __future__ import annotations

import ast
from typing import cast

from depyf.bytecode.code import Code
from depyf.decompiler.graph.tac import Inst
from depyf.decompiler.lift.definitions import name_function
from depyf.decompiler.lift.fold import Folder, is_augmented
from depyf.decompiler.lift.nodes import (
    IMPURE,
    PURE,
    AsyncIter,
    AsyncNext,
    BuildClass,
    ExcMatch,
    Function,
    GetAwaitable,
    GetIter,
    GetYieldFromIter,
    Intrinsic,
    Object,
    Tuple_,
    WithExcept,
    constant,
    is_starred,
    literal_value,
)
from depyf.decompiler.lift.values import as_set, is_keyword_name


def call(folder: Folder, inst: Inst) -> None:
    """CALL: the last operands are keyword arguments if there are names."""
    names = cast("tuple[str, ...]", inst.arg)
    parts, reads, writes, _ = folder.taken(inst.uses)
    keywords: list[ast.keyword] = []
    if names:
        first = len(parts) - len(names)
        keywords = [ast.keyword(name, value) for name, value in zip(names, parts[first:])]
        del parts[first:]
    folder.push(inst, ast.Call(parts[0], parts[1:], keywords), IMPURE, reads, writes)


def call_ex(folder: Folder, inst: Inst) -> None:
    """CALL_EX: arguments as one iterable, keyword arguments as one mapping."""

    def make(parts: list[ast.expr]) -> ast.expr:
        keywords = _keywords(parts[2]) if inst.arg else []
        plain = bool(inst.arg) or isinstance(parts[0], BuildClass)
        return ast.Call(func=parts[0], args=_arguments(parts[1], plain), keywords=keywords)

    folder.combine(inst, make)


def _arguments(args: ast.expr, plain: bool) -> list[ast.expr]:
    """Return the arguments in a tuple.

    Args:
        plain: the call needs this form even if no argument is starred.
    """
    if type(args) is Tuple_ or (plain and type(args) is ast.Tuple and not is_starred(args)):
        return args.elts
    items = literal_value(args)
    if isinstance(items, tuple) and (plain or not items):
        return [constant(item) for item in items]
    return [ast.Starred(value=args, ctx=ast.Load())]


def _keywords(mapping: ast.expr) -> list[ast.keyword]:
    if type(mapping) is not ast.Dict or hasattr(mapping, "is_whole"):
        return [ast.keyword(arg=None, value=mapping)]
    if all(key is None or is_keyword_name(literal_value(key)) for key in mapping.keys):
        names = [None if key is None else cast(str, cast(ast.Constant, key).value) for key in mapping.keys]
        return [ast.keyword(arg=name, value=value) for name, value in zip(names, mapping.values)]
    return [ast.keyword(arg=None, value=mapping)]


def make_function(folder: Folder, inst: Inst) -> None:
    """MAKE_FUNCTION: its flags determine the values below the code."""
    flags = cast(int, inst.arg)

    def make(parts: list[ast.expr]) -> ast.expr:
        rest = iter(parts)
        defaults = next(rest) if flags & 1 else None
        kwdefaults = next(rest) if flags & 2 else None
        annotations = next(rest) if flags & 4 else None
        closure = next(rest) if flags & 8 else None
        return function(folder, inst, next(rest), [defaults, kwdefaults, annotations, closure])

    name_function(folder, folder.combine(inst, make, effect=PURE))


def function(folder: Folder, inst: Inst, code: ast.expr, parts: list[ast.expr | None]) -> ast.expr:
    """Return the function made from a code constant and its four optional parts.

    Args:
        folder: the state of the block, for the error.
        inst: the operation that makes the function.
        code: the expression for the code object.
        parts: the defaults, the keyword defaults, the annotations and the closure; None for each that is absent.

    Raises:
        DecompilationError: `code` is not a constant.
    """
    if not isinstance(code, Object) or not isinstance(code.value, Code):
        raise folder.error("a function is made of something that is not a code constant", inst)
    defaults, kwdefaults, annotations, closure = parts
    return Function(
        code=code.value,
        defaults=defaults,
        kwdefaults=kwdefaults,
        annotations=annotations,
        closure=closure,
        annotate=None,
        type_params=[],
    )


def set_function_attribute(folder: Folder, inst: Inst) -> None:
    """SET_FUNCTION_ATTRIBUTE: one part of a function that MAKE_FUNCTION has made (3.13 and newer)."""
    part = {1: "defaults", 2: "kwdefaults", 4: "annotations", 8: "closure", 16: "annotate"}[cast(int, inst.arg)]

    def make(parts: list[ast.expr]) -> ast.expr:
        value, target = parts
        if not isinstance(target, Function):
            raise folder.error("SET_FUNCTION_ATTRIBUTE of something that is not a function made here", inst)
        setattr(target, part, value)
        return target

    name_function(folder, folder.combine(inst, make, effect=PURE))


# -- iteration, generators, coroutines -----------------------------------------------------------


def get_iter(folder: Folder, inst: Inst) -> None:
    """GET_ITER."""
    folder.combine(inst, lambda parts: GetIter(value=as_set(parts[0])))


def get_aiter(folder: Folder, inst: Inst) -> None:
    """GET_AITER."""
    folder.combine(inst, lambda parts: AsyncIter(value=parts[0]))


def get_anext(folder: Folder, inst: Inst) -> None:
    """GET_ANEXT."""
    folder.combine(inst, lambda parts: AsyncNext(value=parts[0]))


def get_awaitable(folder: Folder, inst: Inst) -> None:
    """GET_AWAITABLE."""
    folder.combine(inst, lambda parts: GetAwaitable(value=parts[0], where=inst.arg or 0))


def get_yield_from_iter(folder: Folder, inst: Inst) -> None:
    """GET_YIELD_FROM_ITER."""
    folder.combine(inst, lambda parts: GetYieldFromIter(value=parts[0]))


def yield_from(folder: Folder, inst: Inst) -> None:
    """YIELD_FROM: `await` or `yield from`, depending on the first half."""

    def make(parts: list[ast.expr]) -> ast.expr:
        first = parts[0]
        if isinstance(first, (GetAwaitable, AsyncNext)):
            # An `async with` has other error messages for its awaitables.
            is_plain = isinstance(first, GetAwaitable) and not first.where
            return ast.Await(value=first.value if is_plain else first)
        return ast.YieldFrom(value=first.value if isinstance(first, GetYieldFromIter) else first)

    folder.combine(inst, make)


def yield_value(folder: Folder, inst: Inst) -> None:
    """YIELD."""

    def make(parts: list[ast.expr]) -> ast.expr:
        value = parts[0]
        if isinstance(value, Intrinsic) and value.name == "async_gen_wrap":
            value = value.args[0]
        return ast.Yield(value=value)

    folder.combine(inst, make)


# -- exceptions ------------------------------------------------------------------------------------


def check_exc_match(folder: Folder, inst: Inst) -> None:
    """CHECK_EXC_MATCH, CHECK_EG_MATCH: the test of an `except` or `except*` clause."""
    star = inst.op == "CHECK_EG_MATCH"
    folder.combine(inst, lambda parts: ExcMatch(exc=parts[0], type=parts[1], star=star))


def with_except_start(folder: Folder, inst: Inst) -> None:
    """WITH_EXCEPT_START: call a context manager's exit with the exception."""
    folder.combine(inst, lambda parts: WithExcept(exit=parts[0]))


def pop(folder: Folder, inst: Inst) -> None:
    """POP: an expression statement if the value has no other use."""
    (temp,) = inst.uses
    if folder.slots is not None and folder.slots.expects(temp) and not folder.uses.get(temp):
        folder.slots.drop(temp)
        folder.slots.close()
        return
    entry = folder.by_temp.get(temp)
    if entry is None:
        return
    if folder.uses.get(temp, 0) == 0 and folder.pending[-1] is entry and not is_augmented(entry):
        folder.discard(entry)
        folder.emit(ast.Expr(value=entry.expr), inst.line)
