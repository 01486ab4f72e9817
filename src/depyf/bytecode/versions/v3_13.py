"""CPython 3.13: a call's NULL above the callable, keyword names on the stack, superinstructions."""

from __future__ import annotations

from depyf.bytecode import expansions as x
from depyf.bytecode.folds.generators import fold_generator_stop
from depyf.bytecode.folds.loops import fold_loop_ends
from depyf.bytecode.folds.truth import fold_truth
from depyf.bytecode.versions import v3_12
from depyf.bytecode.versions.opcodes_3_13 import TABLE

GENERATOR_STOP = fold_generator_stop(jumps_test=False)

FACTS = v3_12.FACTS.next(
    TABLE,
    class_lines=True,
    gone=("FORMAT_VALUE", "KW_NAMES", "LOAD_CLOSURE"),
    changed={
        "CALL": x.call("CALL", "above"),
        "CALL_KW": x.call("CALL_KW", "above"),
        "CALL_FUNCTION_EX": x.call_ex("above"),
        "COMPARE_OP": x.compare_to_bool,
        "CONVERT_VALUE": x.convert_value,
        "END_FOR": x.fixed(x.POP),
        "FORMAT_SIMPLE": x.plain("FORMAT", (False, None)),
        "FORMAT_WITH_SPEC": x.plain("FORMAT", (True, None)),
        "LOAD_FAST_LOAD_FAST": x.two_locals("LOAD_FAST", "LOAD_FAST"),
        "STORE_FAST_LOAD_FAST": x.two_locals("STORE_FAST", "LOAD_FAST"),
        "STORE_FAST_STORE_FAST": x.two_locals("STORE_FAST", "STORE_FAST"),
        "MAKE_FUNCTION": x.plain("MAKE_FUNCTION", 0),
        "SET_FUNCTION_ATTRIBUTE": x.function_attribute,
        "TO_BOOL": x.plain("TO_BOOL"),
    },
    null_above=True,
    cleans_docstrings=True,
    folds=(fold_loop_ends(2), GENERATOR_STOP, *v3_12.FOLDS, fold_truth),
)
