"""CPython 3.15: iterators as two values, lazy imports."""

from __future__ import annotations

from depyf.bytecode import expansions as x
from depyf.bytecode.versions import v3_14
from depyf.bytecode.versions.opcodes_3_15 import TABLE

FACTS = v3_14.FACTS.next(
    TABLE,
    gone=("GET_YIELD_FROM_ITER",),
    changed={
        "GET_ITER": x.get_iter,
        "IMPORT_NAME": x.import_name,
        "PUSH_NULL": x.plain("LATER_NULL"),
        "POP_ITER": x.fixed(x.POP, x.POP),
    },
)
