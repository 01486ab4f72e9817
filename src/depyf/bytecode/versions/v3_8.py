"""CPython 3.8: no loop blocks; `finally` bodies are subroutines."""

from __future__ import annotations

from depyf.bytecode import expansions as x
from depyf.bytecode.folds.asserts import fold_asserts
from depyf.bytecode.folds.block_stack import fold_async_with, fold_exits, fold_qualnames
from depyf.bytecode.versions import v3_7
from depyf.bytecode.versions.opcodes_3_8 import TABLE

FACTS = v3_7.FACTS.next(
    TABLE,
    gone=("BREAK_LOOP", "CONTINUE_LOOP", "SETUP_EXCEPT", "SETUP_LOOP"),
    changed={
        "ROT_FOUR": x.fixed(*x.rotate(4)),
        "MAP_ADD": x.with_count("MAP_ADD"),
        "BEGIN_FINALLY": x.plain("BEGIN_FINALLY"),
        "CALL_FINALLY": x.jump("CALL_FINALLY"),
        "POP_FINALLY": x.with_count("POP_FINALLY"),
        "END_ASYNC_FOR": x.plain("END_ASYNC_LOOP"),
        "POP_BLOCK": x.plain("POP_BLOCK", False),
        "POP_EXCEPT": x.plain("LEAVE_HANDLER", False),
        "RETURN_VALUE": x.plain("RETURN"),
    },
    fields=(v3_7.NUMBERS[0], ("posonly_count", True), *v3_7.FACTS.fields[1:]),
    value_first=False,
    iterates_tuples=True,
    folds=(fold_qualnames, fold_async_with, fold_asserts, fold_exits),
)
