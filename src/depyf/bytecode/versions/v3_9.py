"""CPython 3.9: `finally` bodies are copied; identity, membership and exception matches have opcodes."""

from __future__ import annotations

from depyf.bytecode import expansions as x
from depyf.bytecode.folds.block_stack import fold_async_with, fold_exit_calls, fold_qualnames
from depyf.bytecode.operand import Step
from depyf.bytecode.versions import v3_8
from depyf.bytecode.versions.opcodes_3_9 import TABLE

FACTS = v3_8.FACTS.next(
    TABLE,
    gone=(
        "BEGIN_FINALLY",
        "CALL_FINALLY",
        "END_FINALLY",
        "POP_FINALLY",
        "WITH_CLEANUP_FINISH",
        "WITH_CLEANUP_START",
        "BUILD_LIST_UNPACK",
        "BUILD_MAP_UNPACK",
        "BUILD_MAP_UNPACK_WITH_CALL",
        "BUILD_SET_UNPACK",
        "BUILD_TUPLE_UNPACK",
        "BUILD_TUPLE_UNPACK_WITH_CALL",
    ),
    changed={
        **{name: x.with_count(name) for name in ("LIST_EXTEND", "SET_UPDATE", "DICT_UPDATE", "DICT_MERGE")},
        "LIST_TO_TUPLE": x.plain("LIST_TO_TUPLE"),
        "LOAD_ASSERTION_ERROR": x.plain("LOAD_COMMON", "AssertionError"),
        "COMPARE_OP": x.compare(0),
        "IS_OP": x.with_bool("IS"),
        "CONTAINS_OP": x.with_bool("CONTAINS"),
        "JUMP_IF_NOT_EXC_MATCH": x.fixed(Step("MATCH_EXC"), Step("JUMP_IF_FALSE", None, True)),
        "RERAISE": x.plain("RAISE_CAUGHT"),
        "WITH_EXCEPT_START": x.plain("WITH_EXCEPT_START", 7),
    },
    folds=(fold_qualnames, fold_async_with, fold_exit_calls),
)
