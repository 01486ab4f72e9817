"""What stands for parts of `async` statements is proven to be them, and nothing that is near to it is."""

from __future__ import annotations

import pytest

from depyf.bytecode.known_async import AITER, ANEXT, AWAIT_ENTER, AWAIT_EXIT
from depyf.bytecode.listing import Listing
from depyf.bytecode.normalise import normalise
from depyf.verify.assumptions import NO_ASSUMPTIONS
from depyf.verify.bisimulate import bisimulate
from depyf.verify.flow import Flow
from tests.verify.assemble import assemble, view

OBJECTS = {
    "aiter_": AITER,
    "anext_": ANEXT,
    "entering_": AWAIT_ENTER,
    "leaving_": AWAIT_EXIT,
    "stop_": StopAsyncIteration,
    "error_": ValueError,
}
AWAIT = "{}\nCONST None\nYIELD_FROM\nRETURN"
NEXT = "LOAD_FAST a\nGET_AITER\nGET_ANEXT\nCONST None\nYIELD_FROM\nSWAP 2\nPOP\nRETURN"
END = """
    LOAD_FAST a
    GET_AITER
    protect handler 1
    GET_ANEXT
    CONST None
    YIELD_FROM
    end
    RETURN
    handler: END_ASYNC_FOR
    LOAD_FAST b
    RETURN
"""
TESTED = """
async def f(a, b):
    i = aiter_(a)
    try:
        v = await anext_(i)
    except {}:
        return b
    return v
"""
TAKEN = """
async def f(a, b):
    i = aiter_(a)
    async for v in {}:
        return v
    return b
"""


def source(text: str) -> Listing:
    """Return the listing of a function in which names that stand for objects are constants."""
    listing = normalise(view(text))
    for item in listing.instructions:
        if item.op == "LOAD_GLOBAL" and item.arg in OBJECTS:
            item.op, item.arg = "CONST", OBJECTS[str(item.arg)]
    return listing


def proven(original: str, text: str) -> bool:
    """Return whether a listing and a text are proven equivalent."""
    return bisimulate(Flow(assemble(original)), Flow(source(text)), NO_ASSUMPTIONS).reason is None


@pytest.mark.parametrize(
    ("original", "text"),
    [
        ("LOAD_FAST a\nGET_AITER\nRETURN", "async def f(a, b): return aiter_(a)"),
        (AWAIT.format("LOAD_FAST a\nGET_AWAITABLE 1"), "async def f(a, b): return await entering_(a)"),
        (AWAIT.format("LOAD_FAST a\nGET_AWAITABLE 2"), "async def f(a, b): return await leaving_(a)"),
        (NEXT, "async def f(a, b): return await anext_(aiter_(a))"),
        (END, TESTED.format("stop_")),
        (END, TAKEN.format("a").replace("i = aiter_(a)", "")),
        (END, TAKEN.format("i")),
    ],
)
def test_parts_of_statements_are_what_their_operations_are(original: str, text: str) -> None:
    assert proven(original, text)


@pytest.mark.parametrize(
    ("original", "text"),
    [
        ("LOAD_FAST a\nGET_AITER\nRETURN", "async def f(a, b): return aiter_(b)"),
        ("LOAD_FAST a\nGET_AITER\nRETURN", "async def f(a, b): return aiter(a)"),
        ("LOAD_FAST a\nGET_ITER\nRETURN", "async def f(a, b): return aiter_(a)"),
        (AWAIT.format("LOAD_FAST a\nGET_AWAITABLE 1"), "async def f(a, b): return await a"),
        (AWAIT.format("LOAD_FAST a\nGET_AWAITABLE 1"), "async def f(a, b): return await leaving_(a)"),
        (AWAIT.format("LOAD_FAST a\nGET_AWAITABLE 1"), "async def f(a, b): return await entering_(b)"),
        (AWAIT.format("LOAD_FAST a\nGET_AWAITABLE 2"), "async def f(a, b): return await entering_(a)"),
        # The call fails where nothing catches it, the `await` where something does.
        (
            "protect h 0\n" + AWAIT.format("LOAD_FAST a\nGET_AWAITABLE 1") + "\nend\nh: PUSH_EXC_INFO\nCONST 1\nRETURN",
            "async def f(a, b):\n x = entering_(a)\n try: return await x\n except: return 1",
        ),
        # What is done between the call and the `await` comes too late.
        (
            AWAIT.format("LOAD_FAST b\nGET_ITER\nPOP\nLOAD_FAST a\nGET_AWAITABLE 1"),
            "async def f(a, b):\n x = entering_(a)\n iter(b)\n return await x",
        ),
        (NEXT, "async def f(a, b): return await aiter_(a)"),
        (NEXT, "async def f(a, b): return anext_(aiter_(a))"),
        (NEXT, "async def f(a, b): return await anext_(a)"),
        (END, TESTED.format("error_")),
        (END, TESTED.format("StopAsyncIteration")),
        (END, TESTED.format("stop_").replace("return b", "return a")),
        (END, "async def f(a, b):\n return await anext_(aiter_(a))"),
        (END, TAKEN.format("b")),
    ],
)
def test_what_is_near_to_them_is_not(original: str, text: str) -> None:
    assert not proven(original, text)


def test_an_asynchronous_iterator_is_no_iterator() -> None:
    taken_again = "LOAD_FAST a\nGET_AITER\nGET_ITER\nRETURN"
    assert not proven(taken_again, "async def f(a, b): return aiter_(a)")
    assert proven("LOAD_FAST a\nGET_AITER\nGET_AITER\nRETURN", "async def f(a, b): return aiter_(a)")


MATCHED = """
    LOAD_FAST a
    GET_AITER
    protect handler 1
    GET_ANEXT
    CONST None
    YIELD_FROM
    end
    RETURN
    handler: COPY 1
    CONST 'the class'
    MATCH_EXC
    JUMP_IF_FALSE other
    POP
    POP
    LOAD_FAST b
    RETURN
    other: RERAISE 0
"""


@pytest.mark.parametrize(("kind", "same"), [(StopAsyncIteration, True), (StopIteration, False), (Exception, False)])
def test_the_end_is_a_test_of_older_versions_too(kind: type, same: bool) -> None:
    candidate = assemble(MATCHED)
    for item in candidate.instructions:
        if item.arg == "the class":
            item.arg = kind
    outcome = bisimulate(Flow(assemble(END)), Flow(candidate), NO_ASSUMPTIONS)
    assert (outcome.reason is None) == same, outcome.reason
