"""Short circuits and conditional expressions on the graph: blocks in, and blocks with their expressions out."""

from __future__ import annotations

import re

import pytest

from depyf.decompiler.emit.grammar import Grammar
from depyf.decompiler.graph.tac import Branch, Graph, Return
from depyf.decompiler.show import tree
from depyf.decompiler.structure.collapse import collapse
from depyf.decompiler.structure.nodes import items_of
from tests.decompiler.folding import graph_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a, b, c, d, e): return g")
LOAD = re.compile(r"\b([a-e])(\d+)\b")


def blocks_of(text: str) -> Graph:
    """Return a graph of blocks, each behind its number; `a1` in a row is the loading of `a` as `v1`."""
    rows = [re.sub(r"^(\d+(?: \([^)]*\))?) ", r"block \1; ", block) for block in text.split(" | ")]
    return graph_of(LOAD.sub(r"v\2 = LOAD_FAST '\1'", "\n".join(rows)), CODE)


def collapsed(
    text: str, *, is_expression: bool = False, scope: dict[int, int] | None = None, negates: bool = True
) -> str:
    """Return the blocks that are left, as `0 a and b -> 2, 3`."""
    graph = blocks_of(text)
    graph.negates = negates
    uses = collapse(graph, {**dict.fromkeys(range(len(graph.blocks)), 0), **(scope or {})}, is_expression)
    return shown(graph, uses)


def shown(graph: Graph, uses: dict[int, int]) -> str:
    """Return the statements of each block; a test is the last of them, before the blocks that it leads to."""
    texts = []
    for block in graph.live():
        targets = ""
        if isinstance(block.exit, Branch):
            targets = f" -> {block.exit.if_true.target}, {block.exit.if_false.target}"
            block.exit = Return(block.exit.cond)
        rows = tree.text(items_of(graph, block, uses), Grammar.of(CODE)).splitlines()
        text = "; ".join(row.removeprefix("return ") if targets else row for row in rows)
        texts.append(f"{block.index} {text}{targets}")
    return " | ".join(texts)


TESTS = {
    "`and`": (
        "0 a0; -> 1 if v0 else 3 | 1 b1; -> 2 if v1 else 3 | 2 return | 3 c9; return v9",
        "0 a and b -> 2, 3 | 2 return | 3 return c",
    ),
    "`or`": (
        "0 a0; -> 2 if v0 else 1 | 1 b1; -> 2 if v1 else 3 | 2 return | 3 c9; return v9",
        "0 a or b -> 2, 3 | 2 return | 3 return c",
    ),
    "the second is asked where the first fails": (
        "0 a0; -> 3 if v0 else 1 | 1 b1; -> 2 if v1 else 3 | 2 return | 3 c9; return v9",
        "0 a or not b -> 3, 2 | 2 return | 3 return c",
    ),
    "the second with the opposite outcome": (
        "0 a0; -> 1 if v0 else 3 | 1 b1; -> 3 if v1 else 2 | 2 return | 3 c9; return v9",
        "0 a and not b -> 2, 3 | 2 return | 3 return c",
    ),
    "three operands": (
        "0 a0; -> 1 if v0 else 3 | 1 b1; -> 4 if v1 else 3 | 4 c4; -> 2 if v4 else 3 | 2 return | 3 c9; return v9",
        "0 a and (b and c) -> 2, 3 | 2 return | 3 return c",
    ),
    "both edges carry their values": (
        "0 a0; -> 1 if v0 else 3 (v0) | 1 b1; -> 2 if v1 else 3 (v1) | 2 return | 3 (v5) STORE_FAST 'c' v5; return",
        "0 v6 = a and b; v6 -> 2, 3 | 2 return | 3 c = v5; return",
    ),
    "near: an edge carries the value that would be negated": (
        "0 a0; -> 1 if v0 else 3 (v0) | 1 b1; -> 3 (v1) if v1 else 2 | 2 return | 3 (v5) STORE_FAST 'c' v5; return",
        "0 a; v0 = a -> 1, 3 | 1 b; v1 = b -> 3, 2 | 2 return | 3 c = v5; return",
    ),
    "the value of the second is carried to where both hold": (
        "0 a0; -> 1 if v0 else 3 | 1 b1; -> 3 if v1 else 2 (v1) | 2 (v5) STORE_FAST 'c' v5; return | 3 c9; return v9",
        "0 v10 = not a or b; v10 -> 3, 2 | 2 c = v5; return | 3 return c",
    ),
    "near: a test of a known value": (
        "0 a0; -> 1 if v0 else 3 | 1 -> 2 if v0 else 3 | 2 return | 3 c9; return v9",
        "0 a; v0 = a -> 1, 3 | 1 v0 -> 2, 3 | 2 return | 3 return c",
    ),
    "near: a block with a phi": (
        "0 a0; -> 1 (v0) if v0 else 3 | 1 (v5) b6; -> 2 if v6 else 3 | 2 return | 3 c9; return v9",
        "0 a; v0 = a -> 1, 3 | 1 b -> 2, 3 | 2 return | 3 return c",
    ),
    "near: a block with a statement": (
        "0 a0; -> 1 if v0 else 3 | 1 b1; STORE_FAST 'c' v1; b4; -> 2 if v4 else 3 | 2 return | 3 c9; return v9",
        "0 a -> 1, 3 | 1 c = b; b -> 2, 3 | 2 return | 3 return c",
    ),
    "near: a test that leads elsewhere": (
        "0 a0; -> 1 if v0 else 3 | 1 b1; -> 2 if v1 else 4 | 4 return v0 | 2 return | 3 c9; return v9",
        "0 a; v0 = a -> 1, 3 | 1 b -> 2, 4 | 2 return | 3 return c | 4 return v0",
    ),
}
VALUES = {
    "`and`": (
        "0 a0; -> 1 if v0 else 2 (v0) | 1 b1; -> 2 (v1) | 2 (v2) STORE_FAST 'c' v2; return",
        "0 c = a and b; return",
    ),
    "`or`": (
        "0 a0; -> 2 (v0) if v0 else 1 | 1 b1; -> 2 (v1) | 2 (v2) STORE_FAST 'c' v2; return",
        "0 c = a or b; return",
    ),
    "near: another place": (
        "0 a0; -> 2 (v0) if v0 else 1 | 1 b1; -> 3 (v1) | 2 (v2) STORE_FAST 'c' v2; return | "
        "3 (v3) STORE_FAST 'd' v3; return | 4 e4; -> 3 (v4)",
        "0 a; v0 = a -> 2, 1 | 1 v1 = b; v3 = v1; goto 3 | 2 c = v2; return | 3 d = v3; return | "
        "4 v4 = e; v3 = v4; goto 3",
    ),
    "near: another value that differs": (
        "0 d7; e8; a0; -> 2 (v0, v7) if v0 else 1 | 1 b1; -> 2 (v1, v8) | "
        "2 (v2, v3) STORE_FAST 'c' v2; STORE_FAST 'd' v3; return",
        "0 a; v7 = d; v8 = e; v0 = a -> 2, 1 | 1 v1 = b; v2, v3 = v1, v8; goto 2 | 2 c = v2; d = v3; return",
    ),
    "another value that does not differ": (
        "0 d7; a0; -> 2 (v0, v7) if v0 else 1 | 1 b1; -> 2 (v1, v7) | "
        "2 (v2, v3) STORE_FAST 'c' v2; STORE_FAST 'd' v3; return",
        "0 c, d = a or b, d; return",
    ),
    "near: the test does not give its value": (
        "0 a0; d7; -> 2 (v7) if v0 else 1 | 1 b1; -> 2 (v1) | 2 (v2) STORE_FAST 'c' v2; return",
        "0 a; v7 = d -> 2, 1 | 1 v1 = b; v2 = v1; goto 2 | 2 c = v2; return",
    ),
    "near: a block that computes nothing": (
        "0 a0; d7; -> 2 (v0) if v0 else 1 | 1 -> 2 (v7) | 2 (v2) STORE_FAST 'c' v2; return",
        "0 a; v0 = a; v7 = d -> 2, 1 | 1 v2 = v7; goto 2 | 2 c = v2; return",
    ),
    "near: a block that gives another value": (
        "0 a0; d7; -> 2 (v0) if v0 else 1 | 1 b1; -> 2 (v7) | 2 (v2) STORE_FAST 'c' v2; return",
        "0 a; v0 = a; v7 = d -> 2, 1 | 1 v2 = v7; goto 2 | 2 c = v2; return",
    ),
}
RETURNS = {
    "`and`": (
        "0 a0; -> 1 if v0 else 2 | 1 b1; return v1 | 2 return v0",
        "0 return a and b",
    ),
    "`or`": (
        "0 a0; -> 2 if v0 else 1 | 1 b1; return v1 | 2 return v0",
        "0 return a or b",
    ),
    "a return of a phi": (
        "0 a0; -> 1 if v0 else 2 (v0) | 1 b1; return v1 | 2 (v5) return v5",
        "0 return a and b",
    ),
    "a return that drops other values": (
        "0 d7; a0; -> 1 if v0 else 2 | 1 b1; return v1 | 2 POP v7; return v0",
        "0 return a and b",
    ),
    "near: a return that does more": (
        "0 a0; -> 1 if v0 else 2 | 1 b1; return v1 | 2 c5; STORE_FAST 'd' v5; return v0",
        "0 a; v0 = a -> 1, 2 | 1 return b | 2 d = c; return v0",
    ),
    "near: a return of another value": (
        "0 a0; -> 1 if v0 else 2 | 1 b1; return v1 | 2 c2; return v2",
        "0 a -> 1, 2 | 1 return b | 2 return c",
    ),
    "near: a block that computes nothing": (
        "0 a0; d7; -> 1 if v0 else 2 | 1 return v7 | 2 return v0",
        "0 a; v0 = a; v7 = d -> 1, 2 | 1 return v7 | 2 return v0",
    ),
    "near: a block that returns another value": (
        "0 a0; d7; -> 1 if v0 else 2 | 1 b1; return v7 | 2 return v0",
        "0 a; v0 = a; v7 = d -> 1, 2 | 1 return v7 | 2 return v0",
    ),
    "near: no return": (
        "0 a0; -> 1 if v0 else 2 | 1 b1; return v1 | 2 STORE_FAST 'c' v0; -> 4 | 4 -> 4",
        "0 a; v0 = a -> 1, 2 | 1 return b | 2 c = v0; goto 4 | 4 goto 4",
    ),
}
CONDITIONALS = {
    "a value": (
        "0 a0; -> 1 if v0 else 2 | 1 b1; -> 3 (v1) | 2 c4; -> 3 (v4) | 3 (v2) STORE_FAST 'd' v2; return",
        "0 d = b if a else c; return",
    ),
    "near: values of two places": (
        "0 a0; -> 1 if v0 else 2 | 1 b1; -> 3 (v1) | 2 c4; -> 5 (v4) | 3 (v2) STORE_FAST 'd' v2; return | "
        "5 (v6) STORE_FAST 'e' v6; return | 6 e7; -> 3 (v7) | 7 e8; -> 5 (v8)",
        "0 a -> 1, 2 | 1 v1 = b; v2 = v1; goto 3 | 2 v4 = c; v6 = v4; goto 5 | 3 d = v2; return | "
        "5 e = v6; return | 6 v7 = e; v2 = v7; goto 3 | 7 v8 = e; v6 = v8; goto 5",
    ),
    "near: two values that differ": (
        "0 a0; d7; e8; -> 1 if v0 else 2 | 1 b1; -> 3 (v1, v7) | 2 c4; -> 3 (v4, v8) | "
        "3 (v2, v3) STORE_FAST 'd' v2; STORE_FAST 'e' v3; return",
        "0 a; v7 = d; v8 = e -> 1, 2 | 1 v1 = b; v2, v3 = v1, v7; goto 3 | 2 v4 = c; v2, v3 = v4, v8; goto 3 | "
        "3 d = v2; e = v3; return",
    ),
    "two values, one of which does not differ": (
        "0 a0; d7; -> 1 if v0 else 2 | 1 b1; -> 3 (v1, v7) | 2 c4; -> 3 (v4, v7) | "
        "3 (v2, v3) STORE_FAST 'd' v2; STORE_FAST 'e' v3; return",
        "0 d, e = b if a else c, d; return",
    ),
    "near: blocks that compute nothing": (
        "0 a0; d7; e8; -> 1 if v0 else 2 | 1 b1; -> 3 (v7) | 2 c4; -> 3 (v8) | 3 (v2) STORE_FAST 'd' v2; return",
        "0 a; v7 = d; v8 = e -> 1, 2 | 1 v2 = v7; goto 3 | 2 v2 = v8; goto 3 | 3 d = v2; return",
    ),
    "a test": (
        "0 a0; -> 1 if v0 else 2 | 1 b1; -> 3 if v1 else 4 | 2 c2; -> 3 if v2 else 4 | 3 return | 4 c9; return v9",
        "0 b if a else c -> 3, 4 | 3 return | 4 return c",
    ),
    "a test with opposite outcomes": (
        "0 a0; -> 1 if v0 else 2 | 1 b1; -> 3 if v1 else 4 | 2 c2; -> 4 if v2 else 3 | 3 return | 4 c9; return v9",
        "0 not b if a else c -> 4, 3 | 3 return | 4 return c",
    ),
    "near: tests that lead elsewhere": (
        "0 a0; -> 1 if v0 else 2 | 1 b1; -> 3 if v1 else 4 | 2 c2; -> 3 if v2 else 5 | 3 return | "
        "4 c9; return v9 | 5 d8; return v8",
        "0 a -> 1, 2 | 1 b -> 3, 4 | 2 c -> 3, 5 | 3 return | 4 return c | 5 return d",
    ),
    "near: a test of a known value": (
        "0 a0; d7; -> 1 if v0 else 2 | 1 b1; -> 3 if v7 else 4 | 2 c2; -> 3 if v2 else 4 | 3 return | 4 c9; return v9",
        "0 a; v7 = d -> 1, 2 | 1 v7 -> 3, 4 | 2 c -> 3, 4 | 3 return | 4 return c",
    ),
    "near: another test of a known value": (
        "0 a0; d7; -> 1 if v0 else 2 | 1 b1; -> 3 if v1 else 4 | 2 c2; -> 3 if v7 else 4 | 3 return | 4 c9; return v9",
        "0 a; v7 = d -> 1, 2 | 1 b -> 3, 4 | 2 v7 -> 3, 4 | 3 return | 4 return c",
    ),
    "near: opposite outcomes that carry their values": (
        "0 a0; -> 1 if v0 else 2 | 1 b1; -> 3 (v1) if v1 else 4 | 2 c2; -> 4 if v2 else 3 (v2) | "
        "3 (v5) STORE_FAST 'd' v5; return | 4 c9; return v9",
        "0 a -> 1, 2 | 1 b; v1 = b -> 3, 4 | 2 c; v2 = c -> 4, 3 | 3 d = v5; return | 4 return c",
    ),
    "a test that carries its value": (
        "0 a0; -> 1 if v0 else 2 | 1 b1; -> 3 (v1) if v1 else 4 | 2 c2; -> 3 (v2) if v2 else 4 | "
        "3 (v5) STORE_FAST 'd' v5; return | 4 c9; return v9",
        "0 v10 = b if a else c; v10 -> 3, 4 | 3 d = v5; return | 4 return c",
    ),
    "near: a value and a test": (
        "0 a0; -> 1 if v0 else 2 | 1 b1; -> 3 (v1) | 2 c2; -> 4 if v2 else 5 | "
        "3 (v6) STORE_FAST 'd' v6; return | 4 return | 5 c9; return v9",
        "0 a -> 1, 2 | 1 d = b; return | 2 c -> 4, 5 | 4 return | 5 return c",
    ),
}
NEGATED = {
    "near: two tests that only another operation negates": (
        "0 a0; b1; v2 = CONTAINS False v0 v1; -> 1 if v2 else 3 | "
        "1 c5; d6; v7 = CONTAINS False v5 v6; -> 3 if v7 else 2 | 2 return | 3 c9; return v9",
        "0 a in b -> 1, 3 | 1 c in d -> 3, 2 | 2 return | 3 return c",
    ),
    "tests whose values are carried": (
        "0 a0; b1; v2 = CONTAINS False v0 v1; -> 1 if v2 else 3 | "
        "1 c5; d6; v7 = CONTAINS False v5 v6; -> 3 if v7 else 2 (v7) | 2 (v8) STORE_FAST 'e' v8; return | "
        "3 c9; return v9",
        "0 v10 = not a in b or c in d; v10 -> 3, 2 | 2 e = v8; return | 3 return c",
    ),
    "the second": (
        "0 a0; b1; v2 = CONTAINS False v0 v1; -> 1 if v2 else 3 | 1 c5; -> 3 if v5 else 2 | 2 return | 3 c9; return v9",
        "0 a in b and not c -> 2, 3 | 2 return | 3 return c",
    ),
    "the first, as the second would be another operation": (
        "0 a0; -> 1 if v0 else 3 | 1 c5; d6; v7 = CONTAINS False v5 v6; -> 3 if v7 else 2 | 2 return | 3 c9; return v9",
        "0 not a or c in d -> 3, 2 | 2 return | 3 return c",
    ),
    "the second, which the far block follows": (
        "0 a0; -> 1 if v0 else 2 | 1 c5; -> 2 if v5 else 3 | 2 d8; return v8 | 3 c9; return v9",
        "0 not a or c -> 2, 3 | 2 return d | 3 return c",
    ),
    "the second, where the first leads to the near block": (
        "0 a0; -> 3 if v0 else 1 | 1 c5; -> 2 if v5 else 3 | 2 return | 3 c9; return v9",
        "0 a or not c -> 3, 2 | 2 return | 3 return c",
    ),
    "a test that no operation of its block makes": (
        "0 a0; -> 4 | 4 -> 1 if v0 else 3 | 5 -> 4 | "
        "1 c5; d6; v7 = CONTAINS False v5 v6; -> 3 if v7 else 2 | 2 return | 3 c9; return v9",
        "0 v0 = a; goto 4 | 2 return | 3 return c | 4 not v0 or c in d -> 3, 2 | 5 goto 4",
    ),
}
CHAINS = {
    "a chain": (
        "0 a0; b1; v2 = COMPARE '<' v0 v1; -> 1 if v2 else 3 | "
        "1 c3; v4 = COMPARE '<' v1 v3; -> 2 if v4 else 3 | 2 return | 3 c9; return v9",
        "0 a < b < c -> 2, 3 | 2 return | 3 return c",
    ),
    "near: `or`": (
        "0 a0; b1; v2 = COMPARE '<' v0 v1; -> 2 if v2 else 1 | "
        "1 c3; v4 = COMPARE '<' v1 v3; -> 2 if v4 else 3 | 2 return | 3 c9; return v9",
        "0 v1 = b; a < v1 or v1 < c -> 2, 3 | 2 return | 3 return c",
    ),
    "near: another operand": (
        "0 a0; b1; v2 = COMPARE '<' v0 v1; -> 1 if v2 else 3 | "
        "1 c3; v4 = COMPARE '<' v0 v3; -> 2 if v4 else 3 | 2 return | 3 c9; return v9",
        "0 v0 = a; v0 < b and v0 < c -> 2, 3 | 2 return | 3 return c",
    ),
    "near: a test of another value": (
        "0 d7; a0; b1; v2 = COMPARE '<' v0 v1; -> 1 if v7 else 3 | "
        "1 c3; v4 = COMPARE '<' v1 v3; -> 2 if v4 else 3 | 2 return | 3 c9; return v9",
        "0 v1 = b; a < v1; d and v1 < c -> 2, 3 | 2 return | 3 return c",
    ),
    "a comparison with None": (
        "0 a0; b1; v2 = IS False v0 v1; -> 1 if v2 else 2 | "
        "1 v5 = CONST None; v7 = IS False v1 v5; -> 2 if v7 else 3 | 2 c9; return v9 | 3 return",
        "0 a is b is not None -> 3, 2 | 2 return c | 3 return",
    ),
    "a comparison with None, and another test": (
        "0 a0; b1; v2 = IS False v0 v1; -> 1 if v2 else 2 | "
        "1 v5 = CONST None; v7 = IS False v1 v5; -> 2 if v7 else 4 | 4 c6; -> 2 if v6 else 3 | "
        "2 c9; return v9 | 3 return",
        "0 a is b is not None and not c -> 3, 2 | 2 return c | 3 return",
    ),
    "near: another operand is compared with None": (
        "0 a0; b1; v2 = IS False v0 v1; -> 1 if v2 else 2 | "
        "1 v5 = CONST None; v7 = IS False v0 v5; -> 2 if v7 else 3 | 2 c9; return v9 | 3 return",
        "0 v0 = a; v0 is b and v0 is not None -> 3, 2 | 2 return c | 3 return",
    ),
    "near: a comparison with something else": (
        "0 a0; b1; v2 = IS False v0 v1; -> 1 if v2 else 2 | "
        "1 c5; v7 = COMPARE '<' v1 v5; -> 2 if v7 else 3 | 2 c9; return v9 | 3 return",
        "0 v1 = b; a is v1 and not v1 < c -> 3, 2 | 2 return c | 3 return",
    ),
    "near: a comparison with None behind a test of another value": (
        "0 d8; a0; b1; v2 = IS False v0 v1; -> 1 if v8 else 2 | "
        "1 v5 = CONST None; v7 = IS False v1 v5; -> 2 if v7 else 3 | 2 c9; return v9 | 3 return",
        "0 v1 = b; a is v1; d and v1 is not None -> 3, 2 | 2 return c | 3 return",
    ),
}
"""Blocks, and the blocks that are left."""


@pytest.mark.parametrize("case", TESTS)
def test_two_tests(case: str) -> None:
    assert collapsed(TESTS[case][0]) == TESTS[case][1]


@pytest.mark.parametrize("case", VALUES)
def test_two_values(case: str) -> None:
    assert collapsed(VALUES[case][0]) == VALUES[case][1]


@pytest.mark.parametrize("case", RETURNS)
def test_two_returns(case: str) -> None:
    assert collapsed(RETURNS[case][0]) == RETURNS[case][1]


@pytest.mark.parametrize("case", CONDITIONALS)
def test_conditional_expressions(case: str) -> None:
    assert collapsed(CONDITIONALS[case][0]) == CONDITIONALS[case][1]


@pytest.mark.parametrize("case", NEGATED)
def test_which_operand_is_negated(case: str) -> None:
    assert collapsed(NEGATED[case][0]) == NEGATED[case][1]


@pytest.mark.parametrize("case", CHAINS)
def test_chains_of_comparisons(case: str) -> None:
    assert collapsed(CHAINS[case][0]) == CHAINS[case][1]


def test_a_lambda_has_one_return() -> None:
    text, _ = RETURNS["near: a return of another value"]
    assert collapsed(text, is_expression=True) == "0 return b if a else c"
    for case in ("near: a block that computes nothing", "near: a block that returns another value"):
        assert collapsed(RETURNS[case][0], is_expression=True) == RETURNS[case][1]
    other = "0 a0; d7; -> 1 if v0 else 2 | 1 b1; return v1 | 2 return v7"
    assert collapsed(other, is_expression=True) == "0 a; v7 = d -> 1, 2 | 1 return b | 2 return v7"


def test_tests_of_one_expression_are_joined_even_if_another_operation_negates_them() -> None:
    text, apart = NEGATED["near: two tests that only another operation negates"]
    joined = "0 a in b and not c in d -> 2, 3 | 2 return | 3 return c"
    assert collapsed(text) == apart
    assert collapsed(text, negates=False) == collapsed(text, is_expression=True) == joined


@pytest.mark.parametrize("block", [1, 2])
def test_blocks_of_other_scopes_stay(block: int) -> None:
    text, _ = RETURNS["`and`"]
    assert collapsed(text, scope={block: 1}) == "0 a; v0 = a -> 1, 2 | 1 return b | 2 return v0"


def test_straight_lines() -> None:
    assert collapsed("0 a0; -> 1 (v0) | 1 (v2) STORE_FAST 'b' v2; return") == "0 b = a; return"
    assert collapsed("0 a0; -> 1 (v0) | 1 (v0) STORE_FAST 'b' v0; return") == "0 b = a; return"
    long = "0 a0; -> 1 | 1 b1; STORE_FAST 'c' v1; STORE_FAST 'd' v0; return"
    assert collapsed(long) == "0 d, c = a, b; return"
    assert collapsed(long, scope={1: 1}) == "0 v0 = a; goto 1 | 1 c = b; d = v0; return"
    assert collapsed("0 a0; -> 1 | 1 -> 1") == "0 goto 1 | 1 goto 1"


@pytest.mark.parametrize("first", [True, False, None])
@pytest.mark.parametrize("operator", ["`and`", "`or`"])
def test_the_block_that_comes_next(first: bool | None, operator: str) -> None:
    """Of a joined test, it is the one that comes next behind the second test."""
    graph = blocks_of(TESTS[operator][0])
    second = graph.block(1).exit
    assert isinstance(second, Branch)
    second.near = first
    collapse(graph, dict.fromkeys(range(4), 0), False)
    joined = graph.block(0).exit
    assert isinstance(joined, Branch)
    assert (joined.if_true.target, joined.near) == (2, first)


@pytest.mark.parametrize("guarded", [{1: True}, {1: False}, {}])
def test_a_joined_test_is_protected_as_the_second_is(guarded: dict[int, bool]) -> None:
    graph = blocks_of(TESTS["`and`"][0])
    graph.guarded = dict(guarded)
    collapse(graph, dict.fromkeys(range(4), 0), False)
    joined = graph.block(0).exit
    assert isinstance(joined, Branch)
    assert graph.guarded.get(joined.cond) == guarded.get(1)
