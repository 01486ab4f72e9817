"""Expand a raw instruction into its operations: the vocabulary of the version tables.

An expansion takes the operand and returns steps. The tables in `versions/` pick one per opcode.
"""

from __future__ import annotations

from collections.abc import Callable

from depyf.bytecode.operand import Operand, Step, Steps

Expansion = Callable[[Operand], Steps]

CONVERSIONS = (None, "s", "r", "a")
POP = Step("POP")
NULL = Step("NULL")


FIXED: dict[Expansion, Steps] = {}
"""The steps of the expansions that ignore the argument."""


def fixed(*steps: Step) -> Expansion:
    """Expand to the same steps whatever the argument."""

    def expand(operand: Operand) -> Steps:
        return steps

    FIXED[expand] = steps
    return expand


def plain(op: str, arg: object = None) -> Expansion:
    """Expand to one operation with a known argument."""
    return fixed(Step(op, arg))


def jump(op: str) -> Expansion:
    """Expand to one operation that jumps to the instruction's target."""
    return fixed(Step(op, None, True))


FUNCTION_PARTS = frozenset({1, 2, 4, 8, 16})
"""Flags of defaults, keyword defaults, annotations, the closure, and the annotate function."""


def with_count(op: str) -> Expansion:
    """Expand to one operation with the raw number."""
    return lambda operand: (Step(op, operand.raw.arg),)


def with_depth(op: str) -> Expansion:
    """Expand COPY or SWAP, whose argument counts from 1, the top."""

    def expand(operand: Operand) -> Steps:
        if not operand.raw.arg:
            operand.fail("depth 0 is above the stack")
        return (Step(op, operand.raw.arg),)

    return expand


def with_name(op: str) -> Expansion:
    """Expand to one operation with a name of `co_names`."""
    return lambda operand: (Step(op, operand.name()),)


def with_local(op: str) -> Expansion:
    """Expand to one operation with a local variable."""
    return lambda operand: (Step(op, operand.local(operand.raw.arg)),)


def with_cell(op: str) -> Expansion:
    """Expand to one operation with a cell or free variable."""
    return lambda operand: (Step(op, operand.cell()),)


def with_bool(op: str) -> Expansion:
    """Expand to one operation whose argument is the low bit as a bool."""
    return lambda operand: (Step(op, bool(operand.raw.arg & 1)),)


def load_const(operand: Operand) -> Steps:
    """Expand LOAD_CONST."""
    return (Step("CONST", operand.const()),)


def return_const(operand: Operand) -> Steps:
    """Expand RETURN_CONST."""
    return (Step("CONST", operand.const()), Step("RETURN"))


def rotate(count: int) -> Steps:
    """Return the swaps that put the top below `count - 1` values, which keep their order."""
    return tuple(Step("SWAP", depth) for depth in range(count, 1, -1))


def rotation(operand: Operand) -> Steps:
    """Expand ROT_N."""
    return rotate(operand.raw.arg)


def branch_or_pop(op: str) -> Expansion:
    """Expand JUMP_IF_x_OR_POP."""
    return fixed(Step("COPY", 1), Step(op, None, True), POP)


def branch_on_none(op: str) -> Expansion:
    """Expand POP_JUMP_IF_NONE and similar; `op` jumps on the result of `is None`."""
    return fixed(Step("CONST", None), Step("IS", False), Step(op, None, True))


def compare(shift: int) -> Expansion:
    """Expand COMPARE_OP; the operator's index is above `shift` bits with another meaning."""

    def expand(operand: Operand) -> Steps:
        return (Step("COMPARE", operand.pick(operand.pool.table.compare, operand.raw.arg >> shift, "comparisons")),)

    return expand


def compare_to_bool(operand: Operand) -> Steps:
    """Expand COMPARE_OP of 3.13 and newer, whose fifth bit requests an exact bool."""
    steps = compare(5)(operand)
    return (*steps, Step("TO_BOOL")) if operand.raw.arg & 16 else steps


def compare_any(operand: Operand) -> Steps:
    """Expand COMPARE_OP of 3.8 and older, which also performs identity, membership and exception matches."""
    symbol = operand.pick(operand.pool.table.compare, operand.raw.arg, "comparisons")
    match symbol:
        case "in" | "not in":
            return (Step("CONTAINS", symbol == "not in"),)
        case "is" | "is not":
            return (Step("IS", symbol == "is not"),)
        case "exception match":
            return (Step("MATCH_EXC"),)
        case "<" | "<=" | "==" | "!=" | ">" | ">=":
            return (Step("COMPARE", symbol),)
        case _:
            operand.fail(f"no comparison {symbol!r}")


def binary_op(operand: Operand) -> Steps:
    """Expand BINARY_OP."""
    symbol = operand.pick(operand.pool.table.binary, operand.raw.arg, "operators")
    assert isinstance(symbol, str)
    if symbol == "[]":
        return (Step("LOAD_SUBSCR"),)
    if symbol.endswith("="):
        return (Step("INPLACE", symbol[:-1]),)
    return (Step("BINARY", symbol),)


def load_global(operand: Operand) -> Steps:
    """Expand LOAD_GLOBAL of 3.11 and newer, whose low bit requests the NULL of a call."""
    load = Step("LOAD_GLOBAL", operand.name(1))
    if not operand.raw.arg & 1:
        return (load,)
    return (load, NULL) if operand.pool.null_above else (NULL, load)


def call_shape(operand: Operand) -> str:
    """Return the position of a call's missing `self`."""
    return "above" if operand.pool.null_above else "below"


def load_attr(operand: Operand) -> Steps:
    """Expand LOAD_ATTR of 3.12 and newer, whose low bit makes it LOAD_METHOD."""
    if operand.raw.arg & 1:
        return (Step("LOAD_METHOD", (operand.name(1), call_shape(operand))),)
    return (Step("LOAD_ATTR", operand.name(1)),)


def load_super_attr(operand: Operand) -> Steps:
    """Expand LOAD_SUPER_ATTR: bit 0 makes it a method load, bit 1 distinguishes `super(a, b)` from `super()`."""
    two_args = bool(operand.raw.arg & 2)
    if operand.raw.arg & 1:
        return (Step("LOAD_SUPER_METHOD", (operand.name(2), two_args, call_shape(operand))),)
    return (Step("LOAD_SUPER_ATTR", (operand.name(2), two_args)),)


def load_method(operand: Operand) -> Steps:
    """Expand LOAD_METHOD."""
    return (Step("LOAD_METHOD", (operand.name(), "below")),)


def call(op: str, shape: str) -> Expansion:
    """Expand to a call with a number of arguments."""
    return lambda operand: (Step(op, (operand.raw.arg, shape)),)


def call_ex(shape: str) -> Expansion:
    """Expand CALL_FUNCTION_EX, whose low bit is set if there are keyword arguments."""
    return lambda operand: (Step("CALL_EX", (bool(operand.raw.arg & 1), shape)),)


def call_ex_with_null(operand: Operand) -> Steps:
    """Expand CALL_FUNCTION_EX of 3.14 and newer, whose keyword arguments may be a null."""
    return (Step("CALL_EX", (True, call_shape(operand))),)


def get_iter(operand: Operand) -> Steps:
    """Expand GET_ITER of 3.15, which keeps an iterator as two values; an argument marks `yield from`."""
    return (Step("GET_YIELD_FROM_ITER" if operand.raw.arg else "GET_ITER"), Step("GHOST", 0))


def import_name(operand: Operand) -> Steps:
    """Expand IMPORT_NAME of 3.15: bit 0 marks a lazy import, bit 1 an import that must not be lazy by default."""
    return (Step("IMPORT_LAZY" if operand.raw.arg & 1 else "IMPORT_NAME", operand.name(2)),)


def format_value(operand: Operand) -> Steps:
    """Expand FORMAT_VALUE: two bits of conversion, and one bit for a format spec."""
    return (Step("FORMAT", (bool(operand.raw.arg & 4), CONVERSIONS[operand.raw.arg & 3])),)


def convert_value(operand: Operand) -> Steps:
    """Expand CONVERT_VALUE."""
    return (Step("CONVERT", operand.pick(CONVERSIONS, operand.raw.arg or -1, "conversions")),)


def unpack_ex(operand: Operand) -> Steps:
    """Expand UNPACK_EX."""
    return (Step("UNPACK_EX", (operand.raw.arg & 0xFF, operand.raw.arg >> 8)),)


def slice_then(op: str) -> Expansion:
    """Expand BINARY_SLICE or STORE_SLICE: build the slice, then use it."""
    return fixed(Step("BUILD_SLICE", 2), Step(op))


INTRINSICS: dict[str, Steps] = {
    "INTRINSIC_IMPORT_STAR": (Step("IMPORT_STAR"), Step("CONST", None)),
    "INTRINSIC_UNARY_POSITIVE": (Step("UNARY", "+"),),
    "INTRINSIC_LIST_TO_TUPLE": (Step("LIST_TO_TUPLE"),),
    "INTRINSIC_PREP_RERAISE_STAR": (Step("PREP_RERAISE_STAR"),),
}
"""Intrinsics that are operations of their own."""


def intrinsic(count: int) -> Expansion:
    """Expand CALL_INTRINSIC_1 or CALL_INTRINSIC_2."""

    def expand(operand: Operand) -> Steps:
        table = operand.pool.table.intrinsics_1 if count == 1 else operand.pool.table.intrinsics_2
        name = operand.pick(table, operand.raw.arg, "intrinsics")
        assert isinstance(name, str)
        return INTRINSICS.get(name, (Step("INTRINSIC", (name, count)),))

    return expand


def local_step(op: str, operand: Operand, index: int) -> Step:
    """Return the step for a local variable; loading a slot that is shared with a cell loads the cell.

    Args:
        op: the name of the step: `LOAD_FAST`, `STORE_FAST` or another operation on a local variable.
        operand: the argument of the raw instruction, which knows the variables of the code.
        index: the slot of the variable.

    Raises:
        DecompilationError: no variable has this slot.
    """
    name = operand.local(index)
    is_cell = op == "LOAD_FAST" and name in operand.pool.cell_names
    return Step("LOAD_CLOSURE" if is_cell else op, name)


def load_fast(operand: Operand) -> Steps:
    """Expand LOAD_FAST of 3.11 and newer."""
    return (local_step("LOAD_FAST", operand, operand.raw.arg),)


def two_locals(first: str, second: str) -> Expansion:
    """Expand a superinstruction: the first variable's index is in the high four bits."""

    def expand(operand: Operand) -> Steps:
        high, low = operand.raw.arg >> 4, operand.raw.arg & 15
        return (local_step(first, operand, high), local_step(second, operand, low))

    return expand


def small_int(operand: Operand) -> Steps:
    """Expand LOAD_SMALL_INT."""
    return (Step("CONST", operand.raw.arg),)


def common_constant(operand: Operand) -> Steps:
    """Expand LOAD_COMMON_CONSTANT."""
    common = operand.pick(operand.pool.table.commons, operand.raw.arg, "common constants")
    return (Step("CONST", common[0]) if isinstance(common, tuple) else Step("LOAD_COMMON", common),)


def load_special(operand: Operand) -> Steps:
    """Expand LOAD_SPECIAL."""
    return (Step("LOAD_SPECIAL", operand.pick(operand.pool.table.specials, operand.raw.arg, "special methods")),)


def function_attribute(operand: Operand) -> Steps:
    """Expand SET_FUNCTION_ATTRIBUTE."""
    if operand.raw.arg not in FUNCTION_PARTS:
        operand.fail(f"{operand.raw.arg} is not a part of a function")
    return (Step("SET_FUNCTION_ATTRIBUTE", operand.raw.arg),)


def interpolation(operand: Operand) -> Steps:
    """Expand BUILD_INTERPOLATION: bit 0 marks a format spec, the conversion is above bit 1."""
    conversion = operand.pick(CONVERSIONS, operand.raw.arg >> 2, "conversions")
    return (Step("BUILD_INTERPOLATION", (conversion, bool(operand.raw.arg & 1))),)
