"""CPython 3.14: `with` by special method loads, borrowed loads, template strings."""

from __future__ import annotations

from depyf.bytecode import expansions as x
from depyf.bytecode.folds.loops import fold_loop_ends_and_pop
from depyf.bytecode.folds.pairs import fold_null_keywords
from depyf.bytecode.folds.truth import fold_truth
from depyf.bytecode.folds.withs import fold_with_entries
from depyf.bytecode.versions import v3_12, v3_13
from depyf.bytecode.versions.opcodes_3_14 import TABLE

FACTS = v3_13.FACTS.next(
    TABLE,
    gone=tuple(
        "BEFORE_ASYNC_WITH BEFORE_WITH BINARY_SUBSCR BUILD_CONST_KEY_MAP LOAD_ASSERTION_ERROR RETURN_CONST".split()
    ),
    changed={
        "BUILD_INTERPOLATION": x.interpolation,
        "BUILD_TEMPLATE": x.plain("BUILD_TEMPLATE"),
        "CALL_FUNCTION_EX": x.call_ex_with_null,
        "LOAD_COMMON_CONSTANT": x.common_constant,
        "LOAD_FAST_BORROW": x.load_fast,
        "LOAD_FAST_BORROW_LOAD_FAST_BORROW": x.two_locals("LOAD_FAST", "LOAD_FAST"),
        "LOAD_SMALL_INT": x.small_int,
        "LOAD_SPECIAL": x.load_special,
        "NOT_TAKEN": x.fixed(),
        "POP_ITER": x.plain("POP"),
        "WITH_EXCEPT_START": x.plain("WITH_EXCEPT_START", 5),
    },
    walked=True,
    negates=False,
    loose_tests=True,
    set_fills=1,
    docstring_flag=True,
    guesses=(fold_with_entries,),
    folds=(fold_loop_ends_and_pop, fold_null_keywords, v3_13.GENERATOR_STOP, *v3_12.FOLDS, fold_truth),
)
