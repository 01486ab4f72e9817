"""CPython 3.10: jumps count instructions, line ranges, pattern matching."""

from __future__ import annotations

from depyf.bytecode import expansions as x
from depyf.bytecode.folds.matches import fold_matches
from depyf.bytecode.versions import v3_9
from depyf.bytecode.versions.opcodes_3_10 import TABLE

FACTS = v3_9.FACTS.next(
    TABLE,
    changed={
        **{name: x.plain(name) for name in ("GET_LEN", "MATCH_MAPPING", "MATCH_SEQUENCE", "COPY_DICT_WITHOUT_KEYS")},
        "MATCH_KEYS": x.plain("MATCH_KEYS"),
        "MATCH_CLASS": x.with_count("MATCH_CLASS"),
        "ROT_N": x.rotation,
        "GEN_START": x.fixed(),
    },
    jump_unit=2,
    lines="ranges",
    source_order=False,
    keeps_constants=True,
    folds=(*v3_9.FACTS.folds, fold_matches),
)
