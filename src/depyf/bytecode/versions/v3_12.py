"""CPython 3.12: inlined comprehensions, intrinsics, super() in one instruction."""

from __future__ import annotations

from depyf.bytecode import expansions as x
from depyf.bytecode.folds.comprehension_cells import fold_comprehension_cells
from depyf.bytecode.folds.generators import fold_async_yield, fold_generator_start, fold_generator_stop
from depyf.bytecode.folds.keywords import fold_keywords
from depyf.bytecode.folds.loops import fold_loop_ends
from depyf.bytecode.folds.pairs import fold_class_loads, fold_import_star
from depyf.bytecode.folds.prologue import fold_prologue
from depyf.bytecode.folds.sends import fold_sends
from depyf.bytecode.operand import Step
from depyf.bytecode.versions import v3_11
from depyf.bytecode.versions.opcodes_3_12 import TABLE

FOLDS = (
    fold_comprehension_cells,
    fold_generator_start,
    fold_sends,
    fold_async_yield,
    fold_class_loads,
    fold_import_star,
    fold_prologue,
)

FACTS = v3_11.FACTS.next(
    TABLE,
    gone=(
        *"ASYNC_GEN_WRAP IMPORT_STAR JUMP_IF_FALSE_OR_POP JUMP_IF_TRUE_OR_POP LIST_TO_TUPLE LOAD_CLASSDEREF".split(),
        *"LOAD_METHOD PRECALL PREP_RERAISE_STAR PRINT_EXPR UNARY_POSITIVE".split(),
        *(f"POP_JUMP_FORWARD_IF_{when}" for when in v3_11.BRANCHES),
        *(f"POP_JUMP_BACKWARD_IF_{when}" for when in v3_11.BRANCHES),
    ),
    changed={
        **{f"POP_JUMP_IF_{when}": expansion for when, expansion in v3_11.BRANCHES.items()},
        "BINARY_SLICE": x.slice_then("LOAD_SUBSCR"),
        "STORE_SLICE": x.slice_then("STORE_SUBSCR"),
        "CALL_INTRINSIC_1": x.intrinsic(1),
        "CALL_INTRINSIC_2": x.intrinsic(2),
        "CLEANUP_THROW": x.plain("CLEANUP_THROW"),
        "COMPARE_OP": x.compare(4),
        "END_FOR": x.fixed(x.POP, x.POP),
        "END_SEND": x.fixed(Step("SWAP", 2), x.POP),
        "LOAD_ATTR": x.load_attr,
        "LOAD_FAST_AND_CLEAR": x.with_local("LOAD_FAST_CLEAR"),
        "LOAD_FAST_CHECK": x.load_fast,
        "LOAD_FROM_DICT_OR_DEREF": x.with_cell("LOAD_FROM_DICT_OR_DEREF"),
        "LOAD_FROM_DICT_OR_GLOBALS": x.with_name("LOAD_FROM_DICT_OR_GLOBALS"),
        "LOAD_LOCALS": x.plain("LOAD_LOCALS"),
        "LOAD_SUPER_ATTR": x.load_super_attr,
        "RETURN_CONST": x.return_const,
        "SEND": x.fixed(Step("SEND", False, True)),
    },
    nested_quotes=True,
    keeps_constants=False,
    folds=(fold_keywords, fold_loop_ends(1), fold_generator_stop(jumps_test=True), *FOLDS),
)
