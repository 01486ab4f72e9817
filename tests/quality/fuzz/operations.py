"""How each operation is written in the instructions that a version has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from depyf.bytecode.versions.v3_7 import OPERATORS
from tests.quality.fuzz import groups, managers, suspending
from tests.quality.fuzz.block_stack import handle, restore, uses_blocks
from tests.quality.fuzz.effects import FIXED
from tests.quality.fuzz.lowering import INNER, VARIABLES, Lowering
from tests.quality.fuzz.program import ASYNC_GENERATOR, FREE_VARIABLES, Op

NUMBER = {"-": "UNARY_NEGATIVE", "~": "UNARY_INVERT"}
CONVERSIONS = (None, "s", "r", "a")
SAME = frozenset(
    "NOP DELETE_SUBSCR POP_EXCEPT CHECK_EXC_MATCH LIST_TO_TUPLE STORE_SUBSCR GET_ITER".split()
)
COUNTED = frozenset(
    "COPY SWAP BUILD_TUPLE BUILD_LIST BUILD_SET BUILD_STRING BUILD_SLICE BUILD_MAP LIST_APPEND LIST_EXTEND SET_ADD "
    "SET_UPDATE MAP_ADD DICT_UPDATE UNPACK_SEQUENCE".split()
)
NAMED = frozenset("STORE_GLOBAL DELETE_GLOBAL STORE_ATTR DELETE_ATTR IMPORT_FROM".split())


def lower_op(low: Lowering, op: Op) -> None:
    """Write one operation."""
    name, arg = op.name, op.arg
    if name in SPECIAL:
        SPECIAL[name](low, arg)
    elif name in COUNTED and low.has(name):
        assert isinstance(arg, int)
        low.put(name, arg)
    elif name in NAMED:
        low.put(name, low.name(str(arg)))
    elif name in SAME and low.has(name):
        low.put(name)
    elif name in ("DELETE_FAST", "STORE_FAST"):
        low.put(name, VARIABLES.index(str(arg)))
    elif name in ("LOAD_DEREF", "STORE_DEREF", "DELETE_DEREF"):
        low.put(name, low.slot(str(arg)))
    else:
        raise AssertionError(f"{name} has no encoding")


def _load_fast(low: Lowering, arg: str) -> None:
    checked = low.has("LOAD_FAST_CHECK") and arg != FIXED
    low.put("LOAD_FAST_CHECK" if checked else "LOAD_FAST", VARIABLES.index(arg))


def _take(low: Lowering, arg: str) -> None:
    low.put("STORE_FAST", VARIABLES.index(arg))
    low.put("LOAD_FAST_AND_CLEAR", VARIABLES.index(arg))


def _load_closure(low: Lowering, arg: str) -> None:
    low.put("LOAD_CLOSURE" if low.has("LOAD_CLOSURE") else "LOAD_FAST", low.slot(arg))


def _load_global(low: Lowering, arg: str) -> None:
    low.put("LOAD_GLOBAL", low.name(arg) << (1 if low.facts.shared_slots else 0))


def _load_attr(low: Lowering, arg: str) -> None:
    low.put("LOAD_ATTR", low.name(arg) << (0 if low.has("LOAD_METHOD") else 1))


def _load_method(low: Lowering, arg: str) -> None:
    if low.has("LOAD_METHOD"):
        low.put("LOAD_METHOD", low.name(arg))
    else:
        low.put("LOAD_ATTR", low.name(arg) << 1 | 1)


def _copy(low: Lowering, arg: int) -> None:
    low.put("COPY", arg) if low.has("COPY") else low.put("DUP_TOP")


def _restore(low: Lowering, arg: int) -> None:
    if uses_blocks(low):
        restore(low, arg)
        return
    low.put("COPY", arg)
    low.put("POP_EXCEPT")


def _push_exc_info(low: Lowering, arg: object) -> None:
    handle(low) if uses_blocks(low) else low.put("PUSH_EXC_INFO")


def _swap(low: Lowering, arg: int) -> None:
    low.put("SWAP", arg) if low.has("SWAP") else low.put("ROT_TWO")


def _rotate(low: Lowering, arg: int) -> None:
    if low.has("ROT_N"):
        low.put({2: "ROT_TWO", 3: "ROT_THREE", 4: "ROT_FOUR"}.get(arg, "ROT_N"), arg if arg > 4 else 0)
    else:
        for depth in range(arg, 1, -1):
            low.put("SWAP", depth)


def _operator(low: Lowering, arg: str, inplace: bool) -> None:
    if low.has("BINARY_OP"):
        low.put("BINARY_OP", low.facts.table.binary.index(arg + "=" if inplace else arg))
    else:
        word = next(word for word, symbol in OPERATORS.items() if symbol == arg)
        low.put(("INPLACE_" if inplace else "BINARY_") + word)


def _compare(low: Lowering, arg: str) -> None:
    shift = 5 if low.has("TO_BOOL") else 4 if low.has("RETURN_CONST") else 0
    low.put("COMPARE_OP", low.facts.table.compare.index(arg) << shift)


def _subscript(low: Lowering, arg: object) -> None:
    if low.has("BINARY_SUBSCR"):
        low.put("BINARY_SUBSCR")
    else:
        low.put("BINARY_OP", low.facts.table.binary.index("[]"))


def _key_map(low: Lowering, arg: tuple[str, ...]) -> None:
    low.put("LOAD_CONST", low.const(arg))
    low.put("BUILD_CONST_KEY_MAP", len(arg))


def _list_to_tuple(low: Lowering, arg: object) -> None:
    if low.has("LIST_TO_TUPLE"):
        low.put("LIST_TO_TUPLE")
    else:
        low.put("CALL_INTRINSIC_1", low.facts.table.intrinsics_1.index("INTRINSIC_LIST_TO_TUPLE"))


def _unpack_ex(low: Lowering, arg: tuple[int, int]) -> None:
    low.put("UNPACK_EX", arg[0] | arg[1] << 8)


def _format(low: Lowering, arg: tuple[bool, str | None]) -> None:
    with_spec, conversion = arg
    if low.has("FORMAT_VALUE"):
        low.put("FORMAT_VALUE", CONVERSIONS.index(conversion) | 4 * with_spec)
        return
    if conversion is not None and with_spec:
        low.put("SWAP", 2)
    if conversion is not None:
        low.put("CONVERT_VALUE", CONVERSIONS.index(conversion))
    if conversion is not None and with_spec:
        low.put("SWAP", 2)
    low.put("FORMAT_WITH_SPEC" if with_spec else "FORMAT_SIMPLE")


def _call(low: Lowering, arg: tuple[int, str]) -> None:
    if arg[1] == "plain":
        low.put("CALL_FUNCTION", arg[0])
    elif low.has("CALL_METHOD"):
        low.put("CALL_METHOD", arg[0])
    else:
        if low.has("PRECALL"):
            low.put("PRECALL", arg[0])
        low.put("CALL", arg[0])


def _call_keywords(low: Lowering, arg: tuple[int, str, tuple[str, ...]]) -> None:
    count, _, names = arg
    if low.has("KW_NAMES"):
        low.put("KW_NAMES", low.const(names))
        if low.has("PRECALL"):
            low.put("PRECALL", count)
        low.put("CALL", count)
    else:
        low.put("LOAD_CONST", low.const(names))
        low.put("CALL_KW" if low.has("CALL_KW") else "CALL_FUNCTION_KW", count)


def _call_unpacked(low: Lowering, arg: tuple[bool, str]) -> None:
    if low.has("LOAD_SPECIAL") and not arg[0]:
        low.put("PUSH_NULL")
    low.put("CALL_FUNCTION_EX", int(arg[0]))


def _make_function(low: Lowering, arg: tuple[int, int]) -> None:
    flags, number = arg
    if flags & 8:
        for name in INNER[number].co_freevars:
            _load_closure(low, name)
        low.put("BUILD_TUPLE", FREE_VARIABLES[number])
        low.depth += 2
    low.put("LOAD_CONST", low.const(INNER[number]))
    if low.has("SET_FUNCTION_ATTRIBUTE"):
        low.put("MAKE_FUNCTION")
        for flag in (8, 4, 2, 1):
            if flags & flag:
                low.put("SET_FUNCTION_ATTRIBUTE", flag)
        return
    if not low.has("RESUME"):
        low.put("LOAD_CONST", low.const(f"f.<locals>.{INNER[number].co_name}"))
    low.put("MAKE_FUNCTION", flags)


def _import_name(low: Lowering, arg: tuple[str, tuple[str, ...] | None]) -> None:
    low.load(0)
    low.put("LOAD_CONST", low.const(arg[1]))
    low.put("IMPORT_NAME", low.name(arg[0]) << (2 if low.program.version >= (3, 15) else 0))


def _yield(low: Lowering, arg: object) -> None:
    if low.program.mode == ASYNC_GENERATOR and low.has("ASYNC_GEN_WRAP"):
        low.put("ASYNC_GEN_WRAP")
    elif low.program.mode == ASYNC_GENERATOR and low.has("CALL_INTRINSIC_1"):
        low.put("CALL_INTRINSIC_1", low.facts.table.intrinsics_1.index("INTRINSIC_ASYNC_GEN_WRAP"))
    # One number is how deeply protected a yield is, another what it delegates to; neither is known here.
    # Without RESUME a generator goes on behind the first prefix of what it stands at: at the yield once more.
    arg = 2 if low.has("RETURN_CONST") and not low.has("TO_BOOL") else 0
    low.put("YIELD_VALUE", arg, bare=not low.has("RESUME"))
    if low.has("RESUME"):
        low.put("RESUME", 1)


SPECIAL: dict[str, Callable[[Lowering, Any], None]] = {
    "RESUME": lambda low, arg: low.put("RESUME" if low.has("RESUME") else "NOP"),
    "CONST": lambda low, arg: low.load(arg),
    "NULL": lambda low, arg: low.put("PUSH_NULL"),
    "POP": lambda low, arg: low.put("POP_TOP"),
    "COPY": _copy,
    "SWAP": _swap,
    "ROT": _rotate,
    "RESTORE": _restore,
    "PUSH_EXC_INFO": _push_exc_info,
    "LOAD_FAST": _load_fast,
    "TAKE": _take,
    "LOAD_CLOSURE": _load_closure,
    "LOAD_GLOBAL": _load_global,
    "LOAD_ATTR": _load_attr,
    "LOAD_METHOD": _load_method,
    "LOAD_SUBSCR": _subscript,
    "UNARY": lambda low, arg: low.put(NUMBER[arg]),
    "NOT": lambda low, arg: negate(low),
    "BINARY": lambda low, arg: _operator(low, arg, False),
    "INPLACE": lambda low, arg: _operator(low, arg, True),
    "COMPARE": _compare,
    "IS": lambda low, arg: low.put("IS_OP", int(arg)),
    "CONTAINS": lambda low, arg: low.put("CONTAINS_OP", int(arg)),
    "TO_BOOL": lambda low, arg: low.put("TO_BOOL"),
    "BUILD_CONST_KEY_MAP": _key_map,
    "LIST_TO_TUPLE": _list_to_tuple,
    "UNPACK_EX": _unpack_ex,
    "FORMAT": _format,
    "CALL": _call,
    "CALL_KW": _call_keywords,
    "CALL_EX": _call_unpacked,
    "MAKE_FUNCTION": _make_function,
    "IMPORT_NAME": _import_name,
    "YIELD": _yield,
    **groups.LOWERING,
    **managers.LOWERING,
    **suspending.LOWERING,
}


def negate(low: Lowering) -> None:
    """Write `not`, which newer versions do to a bool only."""
    if low.has("TO_BOOL"):
        low.put("TO_BOOL")
    low.put("UNARY_NOT")
