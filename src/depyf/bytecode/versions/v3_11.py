"""CPython 3.11: exception table, caches, one index space of variables, calls with a NULL."""

from __future__ import annotations

from depyf.bytecode import expansions as x
from depyf.bytecode.folds.generators import fold_async_yield, fold_generator_start
from depyf.bytecode.folds.keywords import fold_keywords
from depyf.bytecode.folds.prologue import fold_prologue
from depyf.bytecode.folds.sends import fold_sends
from depyf.bytecode.operand import Step
from depyf.bytecode.versions import v3_7, v3_10
from depyf.bytecode.versions.opcodes_3_11 import TABLE

GONE = (
    "CALL_FUNCTION CALL_FUNCTION_KW CALL_METHOD COPY_DICT_WITHOUT_KEYS DUP_TOP DUP_TOP_TWO GEN_START JUMP_ABSOLUTE "
    "JUMP_IF_NOT_EXC_MATCH POP_BLOCK POP_JUMP_IF_FALSE POP_JUMP_IF_TRUE ROT_FOUR ROT_N ROT_THREE ROT_TWO "
    "SETUP_ASYNC_WITH SETUP_FINALLY SETUP_WITH YIELD_FROM"
)
SAME = "PUSH_EXC_INFO CHECK_EXC_MATCH CHECK_EG_MATCH PREP_RERAISE_STAR POP_EXCEPT END_ASYNC_FOR"
BRANCHES = {
    "TRUE": x.jump("JUMP_IF_TRUE"),
    "FALSE": x.jump("JUMP_IF_FALSE"),
    "NONE": x.branch_on_none("JUMP_IF_TRUE"),
    "NOT_NONE": x.branch_on_none("JUMP_IF_FALSE"),
}

NUMBERS = ("argcount", "posonly_count", "kwonly_count", "stacksize", "flags", "first_line")
FIELDS = tuple(
    (name, name in NUMBERS)
    for name in (
        "argcount posonly_count kwonly_count stacksize flags bytecode consts names variables kinds filename name "
        "qualname first_line line_table exception_table"
    ).split()
)

FACTS = v3_10.FACTS.next(
    TABLE,
    gone=(
        *GONE.split(),
        *(f"BINARY_{name}" for name in v3_7.OPERATORS),
        *(f"INPLACE_{name}" for name in v3_7.OPERATORS),
    ),
    changed={
        **{f"POP_JUMP_FORWARD_IF_{when}": expansion for when, expansion in BRANCHES.items()},
        **{f"POP_JUMP_BACKWARD_IF_{when}": expansion for when, expansion in BRANCHES.items()},
        **{name: x.plain(name) for name in SAME.split()},
        **{name: x.with_count(name) for name in ("GET_AWAITABLE", "RERAISE")},
        **{name: x.with_depth(name) for name in ("COPY", "SWAP")},
        **{name: x.fixed() for name in ("RESUME", "COPY_FREE_VARS", "PRECALL")},
        "PUSH_NULL": x.plain("NULL"),
        "MAKE_CELL": x.with_local("MAKE_CELL"),
        "LOAD_FAST": x.load_fast,
        "LOAD_GLOBAL": x.load_global,
        "BINARY_OP": x.binary_op,
        "CALL": x.call("CALL", "below"),
        "CALL_FUNCTION_EX": x.call_ex("below"),
        "KW_NAMES": x.load_const,
        "BEFORE_WITH": x.plain("ENTER_WITH"),
        "WITH_EXCEPT_START": x.plain("WITH_EXCEPT_START", 4),
        "JUMP_BACKWARD": x.jump("JUMP"),
        "JUMP_BACKWARD_NO_INTERRUPT": x.jump("JUMP"),
        "SEND": x.fixed(Step("SEND", True, True)),
        "RETURN_GENERATOR": x.plain("CONST", None),
        "ASYNC_GEN_WRAP": x.plain("INTRINSIC", ("INTRINSIC_ASYNC_GEN_WRAP", 1)),
    },
    fields=FIELDS,
    backward=frozenset(
        ("JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", *(f"POP_JUMP_BACKWARD_IF_{when}" for when in BRANCHES))
    ),
    exceptions="table",
    walked=False,
    lines="locations",
    shared_slots=True,
    star_in_index=True,
    percent_joins=True,
    folds=(fold_keywords, fold_generator_start, fold_sends, fold_async_yield, fold_prologue),
)
