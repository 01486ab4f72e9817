"""Groups of operations, for the passes that need them."""

from __future__ import annotations

NOTHING: frozenset[str] = frozenset()
PATTERNS = frozenset({"MATCH_SEQUENCE", "MATCH_MAPPING", "MATCH_CLASS"})
STATED = PATTERNS | {"LOAD_BUILD_CLASS"}
"""Operations of statements that are recognised by the compiler's form."""
HANDLERS = frozenset({"PUSH_EXC_INFO", "RERAISE", "ENTER_WITH", "ENTER_ASYNC_WITH"})
CAUGHT = frozenset({"PUSH_EXC_INFO"})
LOOPS = frozenset({"FOR_ITER", "GET_ANEXT"})
TESTS = frozenset({"JUMP_IF_TRUE", "JUMP_IF_FALSE"})
SEVERAL = "several blocks"
"""A pseudo-operation of code with handlers, or with loops and exits that the compiler has recorded."""
FLOW = TESTS | {"JUMP", "SEND", SEVERAL} | HANDLERS | LOOPS
"""Operations that give code more than one block."""
COPIED = frozenset({"COPY"})
"""The operation without which a tested value has no other use: the test takes it from the stack."""
KEPT = frozenset({"COPY", "SWAP"}) | PATTERNS
"""Operations without which no value is tested twice."""
BUILTINS = frozenset({"LOAD_COMMON"})
LISTS = frozenset({"BUILD_LIST", "BUILD_TUPLE"})
"""Operations that make fresh objects."""
ANNOTATIONS = frozenset({"SETUP_ANNOTATIONS"})
DEFINITIONS = frozenset({"MAKE_FUNCTION", "INTRINSIC"})
