"""CPython 3.7: the start of the chain of versions."""

from __future__ import annotations

from depyf.bytecode import expansions as x
from depyf.bytecode.folds.asserts import fold_asserts
from depyf.bytecode.folds.async_loops import fold_async_loops
from depyf.bytecode.folds.block_stack import fold_async_with, fold_finally_entries, fold_qualnames
from depyf.bytecode.operand import Step
from depyf.bytecode.versions.facts import Facts
from depyf.bytecode.versions.opcodes_3_7 import TABLE

OPERATORS = {
    "ADD": "+",
    "SUBTRACT": "-",
    "MULTIPLY": "*",
    "MATRIX_MULTIPLY": "@",
    "TRUE_DIVIDE": "/",
    "FLOOR_DIVIDE": "//",
    "MODULO": "%",
    "POWER": "**",
    "LSHIFT": "<<",
    "RSHIFT": ">>",
    "AND": "&",
    "OR": "|",
    "XOR": "^",
}
SAME = (
    "SETUP_ANNOTATIONS LOAD_BUILD_CLASS DELETE_SUBSCR GET_ITER GET_YIELD_FROM_ITER GET_AITER GET_ANEXT "
    "YIELD_FROM IMPORT_STAR"
)
COUNTED = (
    "BUILD_TUPLE BUILD_LIST BUILD_SET BUILD_STRING BUILD_SLICE BUILD_MAP BUILD_CONST_KEY_MAP BUILD_TUPLE_UNPACK "
    "BUILD_LIST_UNPACK BUILD_SET_UNPACK BUILD_MAP_UNPACK BUILD_TUPLE_UNPACK_WITH_CALL BUILD_MAP_UNPACK_WITH_CALL "
    "LIST_APPEND SET_ADD UNPACK_SEQUENCE MAKE_FUNCTION"
)
NAMED = (
    "LOAD_GLOBAL STORE_GLOBAL DELETE_GLOBAL LOAD_NAME STORE_NAME DELETE_NAME LOAD_ATTR STORE_ATTR DELETE_ATTR "
    "IMPORT_NAME IMPORT_FROM"
)
BLOCKS = "SETUP_LOOP SETUP_EXCEPT SETUP_FINALLY SETUP_WITH SETUP_ASYNC_WITH CONTINUE_LOOP"
BLOCK_ENDS = "BREAK_LOOP END_FINALLY WITH_CLEANUP_START WITH_CLEANUP_FINISH"

EXPANSIONS: dict[str, x.Expansion] = {
    **{f"BINARY_{name}": x.plain("BINARY", symbol) for name, symbol in OPERATORS.items()},
    **{f"INPLACE_{name}": x.plain("INPLACE", symbol) for name, symbol in OPERATORS.items()},
    **{name: x.plain(name) for name in SAME.split()},
    **{name: x.with_count(name) for name in COUNTED.split()},
    **{name: x.with_name(name) for name in NAMED.split()},
    **{name: x.with_local(name) for name in ("LOAD_FAST", "STORE_FAST", "DELETE_FAST")},
    **{name: x.with_cell(name) for name in ("LOAD_DEREF", "STORE_DEREF", "DELETE_DEREF", "LOAD_CLOSURE")},
    **{name: x.jump(name) for name in BLOCKS.split()},
    **{name: x.plain(name) for name in BLOCK_ENDS.split()},
    "NOP": x.fixed(),
    "POP_TOP": x.plain("POP"),
    "ROT_TWO": x.fixed(*x.rotate(2)),
    "ROT_THREE": x.fixed(*x.rotate(3)),
    "DUP_TOP": x.plain("COPY", 1),
    "DUP_TOP_TWO": x.fixed(Step("COPY", 2), Step("COPY", 2)),
    "LOAD_CONST": x.load_const,
    "LOAD_CLASSDEREF": x.with_cell("LOAD_CLASSDEREF"),
    "UNARY_POSITIVE": x.plain("UNARY", "+"),
    "UNARY_NEGATIVE": x.plain("UNARY", "-"),
    "UNARY_NOT": x.plain("UNARY", "not"),
    "UNARY_INVERT": x.plain("UNARY", "~"),
    "BINARY_SUBSCR": x.plain("LOAD_SUBSCR"),
    "STORE_SUBSCR": x.plain("STORE_SUBSCR"),
    "COMPARE_OP": x.compare_any,
    "MAP_ADD": lambda operand: (Step("SWAP", 2), Step("MAP_ADD", operand.raw.arg)),
    "UNPACK_EX": x.unpack_ex,
    "FORMAT_VALUE": x.format_value,
    "PRINT_EXPR": x.fixed(Step("INTRINSIC", ("INTRINSIC_PRINT", 1)), x.POP),
    "LOAD_METHOD": x.load_method,
    "CALL_METHOD": x.call("CALL", "below"),
    "CALL_FUNCTION": x.call("CALL", "plain"),
    "CALL_FUNCTION_KW": x.call("CALL_KW", "plain"),
    "CALL_FUNCTION_EX": x.call_ex("plain"),
    "JUMP_FORWARD": x.jump("JUMP"),
    "JUMP_ABSOLUTE": x.jump("JUMP"),
    "POP_JUMP_IF_TRUE": x.jump("JUMP_IF_TRUE"),
    "POP_JUMP_IF_FALSE": x.jump("JUMP_IF_FALSE"),
    "JUMP_IF_TRUE_OR_POP": x.branch_or_pop("JUMP_IF_TRUE"),
    "JUMP_IF_FALSE_OR_POP": x.branch_or_pop("JUMP_IF_FALSE"),
    "FOR_ITER": x.jump("FOR_ITER"),
    "RETURN_VALUE": x.plain("RETURN_THROUGH"),
    "POP_BLOCK": x.plain("POP_BLOCK", True),
    "POP_EXCEPT": x.plain("LEAVE_HANDLER", True),
    "RAISE_VARARGS": x.with_count("RAISE"),
    "YIELD_VALUE": x.plain("YIELD"),
    "GET_AWAITABLE": x.plain("GET_AWAITABLE", 0),
    "BEFORE_ASYNC_WITH": x.plain("ENTER_ASYNC_WITH"),
}

NUMBERS = tuple((name, True) for name in "argcount kwonly_count nlocals stacksize flags".split())
OBJECTS = tuple(
    (name, False) for name in "bytecode consts names varnames freevars cellvars filename name".split()
)

FACTS = Facts(
    table=TABLE,
    expansions=EXPANSIONS,
    fields=(*NUMBERS, *OBJECTS, ("first_line", True), ("line_table", False)),
    jump_unit=1,
    backward=frozenset(),
    exceptions="block stack",
    walked=True,
    lines="lnotab",
    source_order=True,
    keeps_constants=False,
    value_first=True,
    shared_slots=False,
    null_above=False,
    docstring_flag=False,
    class_lines=False,
    cleans_docstrings=False,
    star_in_index=False,
    nested_quotes=False,
    negates=True,
    loose_tests=False,
    percent_joins=False,
    iterates_tuples=False,
    set_fills=2,
    folds=(fold_qualnames, fold_finally_entries, fold_async_loops, fold_async_with, fold_asserts),
)
