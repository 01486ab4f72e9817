"""Operations by what a pass needs them for."""

from __future__ import annotations

PATTERNS = frozenset({"MATCH_SEQUENCE", "MATCH_MAPPING", "MATCH_CLASS"})
STATED = PATTERNS | {"LOAD_BUILD_CLASS"}
"""Operations of statements that are known by the form in which a compiler wrote them."""
HANDLERS = frozenset({"PUSH_EXC_INFO", "RERAISE", "ENTER_WITH", "ENTER_ASYNC_WITH"})
CAUGHT = frozenset({"PUSH_EXC_INFO"})
LOOPS = frozenset({"FOR_ITER", "GET_ANEXT"})
OURS = PATTERNS | HANDLERS | LOOPS
"""Operations that become statements and tests of ours before they are Python's."""
TESTS = frozenset({"JUMP_IF_TRUE", "JUMP_IF_FALSE"})
FLOW = TESTS | {"JUMP"} | HANDLERS | LOOPS
"""Operations without which code is one block."""
KEPT = frozenset({"COPY", "SWAP"}) | PATTERNS
"""Operations without which no value is tested more than once."""
BUILTINS = frozenset({"LOAD_COMMON"})
LISTS = frozenset({"BUILD_LIST", "BUILD_TUPLE"})
"""Operations without which nothing is fresh."""
ANNOTATIONS = frozenset({"SETUP_ANNOTATIONS"})
DEFINITIONS = frozenset({"MAKE_FUNCTION", "INTRINSIC"})
