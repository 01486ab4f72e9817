"""Families of instructions: what each becomes, the same whatever the version where that can be."""

from __future__ import annotations

import pytest

from depyf.bytecode.listing import Handler
from depyf.bytecode.normalise import normalise
from tests import interpreters
from tests.bytecode.listings import compiled, function, operations, shown

every_version = pytest.mark.parametrize("version", interpreters.VERSIONS, ids=interpreters.label)


def body(text: str) -> str:
    """Return the source of a function `f(a, b, c)`."""
    lines = "\n".join("    " + line for line in text.splitlines())
    return f"def f(a, b, c):\n{lines}\n"


SAME = {
    "return a + b * -c": [
        "LOAD_FAST a",
        "LOAD_FAST b",
        "LOAD_FAST c",
        "UNARY -",
        "BINARY *",
        "BINARY +",
        "RETURN",
    ],
    "a **= b; return a": ["LOAD_FAST a", "LOAD_FAST b", "INPLACE **", "STORE_FAST a", "LOAD_FAST a", "RETURN"],
    "return a < b, a is not b, a in b, a is b, a not in b": [
        "LOAD_FAST a",
        "LOAD_FAST b",
        "COMPARE <",
        "LOAD_FAST a",
        "LOAD_FAST b",
        "IS True",
        "LOAD_FAST a",
        "LOAD_FAST b",
        "CONTAINS False",
        "LOAD_FAST a",
        "LOAD_FAST b",
        "IS False",
        "LOAD_FAST a",
        "LOAD_FAST b",
        "CONTAINS True",
        "BUILD_TUPLE 5",
        "RETURN",
    ],
    "a[b] = c; del a[b]; return a[b]": [
        "LOAD_FAST c",
        "LOAD_FAST a",
        "LOAD_FAST b",
        "STORE_SUBSCR",
        "LOAD_FAST a",
        "LOAD_FAST b",
        "DELETE_SUBSCR",
        "LOAD_FAST a",
        "LOAD_FAST b",
        "LOAD_SUBSCR",
        "RETURN",
    ],
    "return a[b:c]": ["LOAD_FAST a", "LOAD_FAST b", "LOAD_FAST c", "BUILD_SLICE 2", "LOAD_SUBSCR", "RETURN"],
    "a[b:c] = a; return a": [
        "LOAD_FAST a",
        "LOAD_FAST a",
        "LOAD_FAST b",
        "LOAD_FAST c",
        "BUILD_SLICE 2",
        "STORE_SUBSCR",
        "LOAD_FAST a",
        "RETURN",
    ],
    "a.b = c; del a.b; return a.b": [
        "LOAD_FAST c",
        "LOAD_FAST a",
        "STORE_ATTR b",
        "LOAD_FAST a",
        "DELETE_ATTR b",
        "LOAD_FAST a",
        "LOAD_ATTR b",
        "RETURN",
    ],
    "a, *b, c = a; return b": [
        "LOAD_FAST a",
        "UNPACK_EX (1, 1)",
        "STORE_FAST a",
        "STORE_FAST b",
        "STORE_FAST c",
        "LOAD_FAST b",
        "RETURN",
    ],
    "a, b = a; return b": [
        "LOAD_FAST a",
        "UNPACK_SEQUENCE 2",
        "STORE_FAST a",
        "STORE_FAST b",
        "LOAD_FAST b",
        "RETURN",
    ],
    "global g; g = a; del g; return a": ["LOAD_FAST a", "STORE_GLOBAL g", "DELETE_GLOBAL g", "LOAD_FAST a", "RETURN"],
    "return {a: b, c: b}": ["LOAD_FAST a", "LOAD_FAST b", "LOAD_FAST c", "LOAD_FAST b", "BUILD_MAP 2", "RETURN"],
    "return [a, (b, c), {a}]": [
        "LOAD_FAST a",
        "LOAD_FAST b",
        "LOAD_FAST c",
        "BUILD_TUPLE 2",
        "LOAD_FAST a",
        "BUILD_SET 1",
        "BUILD_LIST 3",
        "RETURN",
    ],
    "raise a from b": ["LOAD_FAST a", "LOAD_FAST b", "RAISE 2"],
    "a = yield b; return a": [
        "LOAD_FAST b",
        "YIELD",
        "STORE_FAST a",
        "LOAD_FAST a",
        "RETURN",
    ],
    "a = yield from b; return a": [
        "LOAD_FAST b",
        "GET_YIELD_FROM_ITER",
        "CONST None",
        "YIELD_FROM",
        "STORE_FAST a",
        "LOAD_FAST a",
        "RETURN",
    ],
    "return not a": ["LOAD_FAST a", "UNARY not", "RETURN"],
}


@every_version
@pytest.mark.parametrize("text", list(SAME))
def test_is_the_same_in_every_version(text: str, version: tuple[int, int]) -> None:
    assert shown(function(body(text), version)) == SAME[text]


@every_version
def test_call_without_keywords(version: tuple[int, int]) -> None:
    lines = shown(function(body("return a(b, c)"), version))
    expected = {
        "plain": ["LOAD_FAST a", "LOAD_FAST b", "LOAD_FAST c", "CALL (2, 'plain')", "RETURN"],
        "below": ["NULL", "LOAD_FAST a", "LOAD_FAST b", "LOAD_FAST c", "CALL (2, 'below')", "RETURN"],
        "above": ["LOAD_FAST a", "NULL", "LOAD_FAST b", "LOAD_FAST c", "CALL (2, 'above')", "RETURN"],
    }
    shape = next(shape for shape in expected if any(shape in line for line in lines))
    assert lines == expected[shape]


@every_version
def test_keyword_names_are_a_constant_on_the_stack(version: tuple[int, int]) -> None:
    lines = shown(function(body("return a(b, k=c)"), version))
    assert [line for line in lines if line != "NULL"][:4] == [
        "LOAD_FAST a",
        "LOAD_FAST b",
        "LOAD_FAST c",
        "CONST ('k',)",
    ]
    assert lines[-2].startswith("CALL_KW (2, ")


@every_version
def test_method_call_is_load_method(version: tuple[int, int]) -> None:
    lines = shown(function(body("return a.m(b)"), version))
    assert lines[1] in ("LOAD_METHOD ('m', 'below')", "LOAD_METHOD ('m', 'above')")
    shape = lines[1].split("'")[3]
    assert lines == ["LOAD_FAST a", lines[1], "LOAD_FAST b", f"CALL (1, '{shape}')", "RETURN"]


@every_version
def test_call_with_starred_arguments(version: tuple[int, int]) -> None:
    has_keywords = [
        instruction.arg[0]
        for text in ("return a(*b)", "return a(*b, **c)")
        for instruction in function(body(text), version).instructions
        if instruction.op == "CALL_EX" and isinstance(instruction.arg, tuple)
    ]
    assert has_keywords == [False, True]


@every_version
def test_branch(version: tuple[int, int]) -> None:
    assert shown(function(body("if a:\n    return b\nreturn c"), version)) == [
        "LOAD_FAST a",
        "JUMP_IF_FALSE -> 4",
        "LOAD_FAST b",
        "RETURN",
        "LOAD_FAST c",
        "RETURN",
    ]


@every_version
def test_comparison_with_none(version: tuple[int, int]) -> None:
    lines = shown(function(body("if a is None:\n    return b\nreturn c"), version))
    assert lines == [
        "LOAD_FAST a",
        "CONST None",
        "IS False",
        "JUMP_IF_FALSE -> 6",
        "LOAD_FAST b",
        "RETURN",
        "LOAD_FAST c",
        "RETURN",
    ]


@every_version
def test_value_of_and(version: tuple[int, int]) -> None:
    assert shown(function(body("return a and b"), version)) == [
        "LOAD_FAST a",
        "COPY 1",
        "JUMP_IF_FALSE -> 5",
        "POP",
        "LOAD_FAST b",
        "RETURN",
    ]


@every_version
def test_for_loop_leaves_without_its_iterator(version: tuple[int, int]) -> None:
    assert shown(function(body("for a in b:\n    c = a\nreturn c"), version)) == [
        "LOAD_FAST b",
        "GET_ITER",
        "FOR_ITER -> 7",
        "STORE_FAST a",
        "LOAD_FAST a",
        "STORE_FAST c",
        "JUMP -> 2",
        "LOAD_FAST c",
        "RETURN",
    ]


@every_version
def test_except_clause(version: tuple[int, int]) -> None:
    listing = function(body("try:\n    a.x\nexcept b:\n    pass\nreturn c"), version)
    matches = {"CHECK_EXC_MATCH", "MATCH_EXC"} & set(operations(listing))
    assert len(matches) == 1
    handler = listing.handlers[listing.instructions[1].handler]
    assert (handler.depth, handler.lasti) == (0, False)
    start = handler.target
    assert operations(listing)[start] == "PUSH_EXC_INFO"
    inside = operations(listing)[start:]
    assert inside.index("POP_EXCEPT") < len(inside)
    cleanup = listing.handlers[listing.instructions[start + 1].handler]
    assert (cleanup.depth, cleanup.lasti) == (1, True)
    assert shown(listing)[cleanup.target : cleanup.target + 3] == ["COPY 3", "POP_EXCEPT", "RERAISE 1"]


@every_version
def test_finally_is_copied_for_each_way_out(version: tuple[int, int]) -> None:
    names_of_operations = operations(function(body("try:\n    return a.x\nfinally:\n    b.y = c"), version))
    assert names_of_operations.count("STORE_ATTR") == 2
    assert names_of_operations.count("RERAISE") == 2
    assert not any(name in names_of_operations for name in ("END_FINALLY", "POP_FINALLY", "CALL_FINALLY", "POP_BLOCK"))


@every_version
def test_with_statement(version: tuple[int, int]) -> None:
    listing = function(body("with a as b:\n    c.x\nreturn c"), version)
    lines = shown(listing)
    assert lines[:3] == ["LOAD_FAST a", "ENTER_WITH", "STORE_FAST b !0"]
    assert listing.handlers[0].depth == 1
    call = next(line for line in lines if line.startswith("CALL"))
    assert call.split(" !")[0] in ("CALL (2, 'below')", "CALL (2, 'above')", "CALL (3, 'plain')")
    assert lines[lines.index(call) - 3 : lines.index(call)] == ["CONST None"] * 3
    start = operations(listing).index("WITH_EXCEPT_START")
    assert operations(listing)[start - 1 : start + 3] == [
        "PUSH_EXC_INFO",
        "WITH_EXCEPT_START",
        "JUMP_IF_TRUE",
        "RERAISE",
    ]
    depth = 4 if listing.handlers[0].lasti else 3
    assert listing.instructions[start].arg == depth


@every_version
def test_await_is_yield_from(version: tuple[int, int]) -> None:
    lines = shown(function("async def f(a):\n    async with a as b:\n        return await b\n", version))
    assert lines[:7] == [
        "LOAD_FAST a",
        "ENTER_ASYNC_WITH",
        "GET_AWAITABLE 1",
        "CONST None",
        "YIELD_FROM",
        "STORE_FAST b !0",
        "LOAD_FAST b !0",
    ]
    assert "GET_AWAITABLE 2" in lines
    assert not any(line.startswith(("SEND", "CLEANUP_THROW")) for line in lines)


@every_version
def test_asynchronous_loop(version: tuple[int, int]) -> None:
    listing = function("async def f(a):\n    async for b in a:\n        yield b\n", version)
    lines = [line.removesuffix(" !0") for line in shown(listing) if not line.startswith("JUMP -> 7")]
    assert lines == [
        "LOAD_FAST a",
        "GET_AITER",
        "GET_ANEXT",
        "CONST None",
        "YIELD_FROM",
        "STORE_FAST b",
        "LOAD_FAST b",
        "YIELD",
        "POP",
        "JUMP -> 2",
        "END_ASYNC_FOR",
        "CONST None",
        "RETURN",
    ]
    assert [handler.depth for handler in listing.handlers] == [1]


@every_version
def test_closure(version: tuple[int, int]) -> None:
    source = "def f(a):\n    def g():\n        nonlocal a\n        a = a + 1\n    return g, a\n"
    lines = shown(function(source, version))
    assert lines[:3] == ["LOAD_CLOSURE a", "BUILD_TUPLE 1", "CONST <g>"]
    assert ["MAKE_FUNCTION 8"] == lines[3:4] or lines[3:5] == ["MAKE_FUNCTION 0", "SET_FUNCTION_ATTRIBUTE 8"]
    assert lines[-4:] == ["LOAD_FAST g", "LOAD_DEREF a", "BUILD_TUPLE 2", "RETURN"]


@every_version
def test_formatting(version: tuple[int, int]) -> None:
    formats = [
        (instruction.op, instruction.arg)
        for instruction in function(body("return f'{a}{b!r:>{c}}'"), version).instructions
        if instruction.op in ("FORMAT", "CONVERT")
    ]
    in_one = [("FORMAT", (False, None)), ("FORMAT", (False, None)), ("FORMAT", (True, "r"))]
    in_two = [("FORMAT", (False, None)), ("CONVERT", "r"), ("FORMAT", (False, None)), ("FORMAT", (True, None))]
    assert formats in (in_one, in_two)


@pytest.mark.parametrize("version", [v for v in interpreters.VERSIONS if v >= (3, 10)], ids=interpreters.label)
def test_class_pattern_leaves_none(version: tuple[int, int]) -> None:
    lines = shown(function(body("match a:\n    case b(x=c):\n        return c"), version))
    start = next(index for index, line in enumerate(lines) if line.startswith("MATCH_CLASS"))
    assert lines[start : start + 4] == ["MATCH_CLASS 0", "COPY 1", "CONST None", "IS False"]
    assert lines[start + 4].startswith("JUMP_IF_TRUE -> ")


@pytest.mark.parametrize("version", [v for v in interpreters.VERSIONS if v >= (3, 12)], ids=interpreters.label)
def test_inlined_comprehension(version: tuple[int, int]) -> None:
    listing = function(body("return [x for x in a]"), version)
    names_of_operations = operations(listing)
    assert names_of_operations[: names_of_operations.index("FOR_ITER")].count("LOAD_FAST_CLEAR") == 1
    assert listing.handlers == [Handler(names_of_operations.index("RERAISE") - 4, 2, False)]


@pytest.mark.parametrize("version", [(3, 15)], ids=interpreters.label)
def test_lazy_import(version: tuple[int, int]) -> None:
    names_of_operations = operations(normalise(compiled("lazy import a\nimport b\n", version)))
    assert [name for name in names_of_operations if name.startswith("IMPORT")] == ["IMPORT_LAZY", "IMPORT_NAME"]


@pytest.mark.parametrize("version", [(3, 14), (3, 15)], ids=interpreters.label)
def test_template_string(version: tuple[int, int]) -> None:
    lines = shown(function(body("return t'{a!r:x}{b}'"), version))
    assert [line for line in lines if line.startswith("BUILD_")] == [
        "BUILD_INTERPOLATION ('r', True)",
        "BUILD_INTERPOLATION (None, False)",
        "BUILD_TUPLE 2",
        "BUILD_TEMPLATE",
    ]


@every_version
def test_jump_over_more_than_255_instructions(version: tuple[int, int]) -> None:
    listing = function(body("while a:\n" + "    a = b.c\n" * 400 + "return c"), version)
    targets = [instruction.target for instruction in listing.instructions if instruction.target >= 0]
    assert max(targets) > 1200
    assert all(0 <= target < len(listing.instructions) for target in targets)


@every_version
def test_lines(version: tuple[int, int]) -> None:
    listing = function("def f(a):\n    b = a\n\n    return (\n        b +\n        a)\n", version)
    assert [instruction.line for instruction in listing.instructions][:2] == [2, 2]
    assert [instruction.line for instruction in listing.instructions if instruction.op == "BINARY"] in ([4], [5], [6])
