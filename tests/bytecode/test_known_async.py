"""Functions that stand for parts of `async` statements do what these do, in the words of each interpreter."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import interpreters

ROOT = Path(__file__).parents[2]
VERSIONS = ((3, 10), (3, 11), (3, 12), (3, 13), (3, 14))
SCRIPT = """
import sys, types
sys.path[:0] = sys.argv[1:2]
from depyf.bytecode.known_async import AITER, ANEXT, AWAIT_ENTER, AWAIT_EXIT


class Waiting:
    def __init__(self, result): self.result = result
    def __await__(self): return iter(self.result) if isinstance(self.result, list) else self.result


class Source:
    def __init__(self, *values): self.values = list(values)
    def __aiter__(self): return self
    def __anext__(self):
        if not self.values:
            raise StopAsyncIteration
        return self.values.pop(0)


class Iterable:
    def __init__(self, iterator): self.iterator = iterator
    def __aiter__(self): return self.iterator


class Manager:
    def __init__(self, first, last): self.first, self.last = first, last
    def __aenter__(self): return self.first
    def __aexit__(self, *parts): return self.last


async def coroutine(value): return value


@types.coroutine
def marked(): yield 1


async def generated():
    yield 1
    yield 2


def outcome(made):
    found = []
    try:
        while True:
            found.append(made.send(None))
    except StopIteration as end:
        return found, end.value
    except BaseException as error:
        cause = error.__cause__
        return found, type(error), str(error), type(cause), str(cause)


async def loop(value):
    async for item in value:
        return item
    return "end"


async def by_hand(value):
    iterator = AITER(value)
    try:
        item = await ANEXT(iterator)
    except StopAsyncIteration:
        return "end"
    return item


async def managed(manager):
    async with manager as value:
        return value


async def managed_by_hand(manager):
    value = await AWAIT_ENTER(manager.__aenter__())
    await AWAIT_EXIT(manager.__aexit__(None, None, None))
    return value


bad = (3, None, "text", Waiting(3), Waiting(None), [])
makers = [lambda item=item: Source(item) for item in (*bad, Waiting([1, 2]), Waiting(iter([])))]
makers += [lambda: Source(coroutine(5)), lambda: Source(marked()), lambda: Source(Waiting(coroutine(1)))]
makers += [Source, generated, lambda: Iterable(Source()), lambda: Iterable(generated()), lambda: 4, lambda: Iterable(4)]
for make in makers:
    assert outcome(loop(make())) == outcome(by_hand(make())), (outcome(loop(make())), outcome(by_hand(make())))
for first in (*bad, Waiting([1]), coroutine):
    for last in (*bad, Waiting([2]), coroutine):
        def manager():
            return Manager(*(coroutine(3) if one is coroutine else one for one in (first, last)))
        both = outcome(managed(manager())), outcome(managed_by_hand(manager()))
        assert both[0] == both[1], (both, first, last)
print("the same")
"""


@pytest.mark.parametrize("version", VERSIONS, ids=interpreters.label)
def test_they_do_what_the_interpreter_does(version: tuple[int, int]) -> None:
    python = interpreters.need(version)
    assert interpreters.run(python, SCRIPT, str(ROOT / "src")) == "the same\n"
