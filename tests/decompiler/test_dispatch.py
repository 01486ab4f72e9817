"""Code written by dispatch, whatever its control flow: it does the same, and is proven to."""

from __future__ import annotations

import asyncio
import sys
import types
from collections.abc import Callable

import pytest

from depyf.decompiler.function import decompile_function
from depyf.decompiler.structure.budget import nests_too_deep
from depyf.verify.level import Level

FLAT = frozenset({"build"})


class Recording:
    """A context manager that says what happens to it, and suppresses KeyError."""

    def __init__(self, log: list[object], name: str) -> None:
        self.log, self.name = log, name

    def __enter__(self) -> str:
        self.log.append(("enter", self.name))
        return self.name

    def __exit__(self, kind: object, exc: BaseException | None, tb: object) -> bool:
        self.log.append(("exit", self.name, kind, tb is not None))
        return isinstance(exc, KeyError)

    async def __aenter__(self) -> str:
        return self.__enter__()

    async def __aexit__(self, kind: object, exc: BaseException | None, tb: object) -> bool:
        return self.__exit__(kind, exc, tb)


def clauses(log, act):
    for number in range(4):
        try:
            log.append(act(number))
        except (KeyError, IndexError) as error:
            log.append(("caught", error, sys.exc_info()[0]))
            if number == 1:
                continue
        except ValueError:
            log.append("value")
            raise
        else:
            log.append("else")
        log.append("end")
    return number


def finals(log, act):
    try:
        try:
            log.append(act(0))
            if act(1):
                return act(2)
        finally:
            log.append(("final", sys.exc_info()[0]))
    except ValueError as error:
        log.append(error.__context__)
        try:
            act(3)
        except KeyError as other:
            log.append((other.__context__ is error, sys.exc_info()[1] is other))
        log.append(sys.exc_info()[1] is error)
    finally:
        log.append(sys.exc_info()[0])
    return "end"


def managers(log, act):
    while True:
        with Recording(log, "a") as a, Recording(log, "b"):
            log.append(a)
            if act(0):
                break
            if act(1):
                return act(2)
            with Recording(log, "c"):
                act(3)
        log.append("after")
        if act(4):
            return "suppressed"
    return "broken"


def generator(log, act):
    try:
        sent = yield act(0)
        log.append(sent)
        yield from [act(1), act(2)]
    except KeyError:
        yield "key"
    finally:
        log.append("closed")


async def asynchronous(log, act):
    async with Recording(log, "a") as name:
        log.append(name)
        await asyncio.sleep(0)
        if act(0):
            return act(1)
        act(2)
    return "after"


def nested(log, act):
    try:
        act(0)
    except KeyError:
        try:
            act(1)
        except IndexError:
            try:
                act(2)
            except ValueError as error:
                log.append((error.__context__, sys.exc_info()[1] is error))
                raise
        log.append(sys.exc_info()[0])
    return "end"


PROGRAMS = [clauses, finals, managers, nested]
NOTHING, YES = object(), object()
OUTCOMES = (NOTHING, YES, KeyError, ValueError, IndexError)


def acting(script: tuple[object, ...]) -> Callable[[int], object]:
    """Return a function that does, for each number, what the script says: return or raise."""
    counts: dict[int, int] = {}

    def act(number: int) -> object:
        counts[number] = counts.get(number, 0) + 1
        if counts[number] > 2:
            return YES
        outcome = script[number % len(script)]
        if isinstance(outcome, type):
            raise outcome(number)
        return number + 1 if outcome is YES else 0

    return act


def outcome_of(function: Callable[..., object], script: tuple[object, ...]) -> list[str]:
    """Return all that a function does, as text."""
    log: list[object] = []
    try:
        result: object = function(log, acting(script))
        if isinstance(result, types.CoroutineType):
            result = asyncio.run(result)
        elif isinstance(result, types.GeneratorType):
            result = list(result)
    except (KeyError, ValueError, IndexError) as error:
        chain: list[object] = []
        link: BaseException | None = error
        while link is not None:
            chain.append(link)
            link = link.__context__
        result = chain
    return [repr(item) for item in [*log, result]]


def written(function: types.FunctionType) -> types.FunctionType:
    """Return the function made of the source that dispatches its blocks."""
    decompiled = decompile_function(function.__code__, without=FLAT)
    assert decompiled.level >= Level.EQUIVALENT, decompiled.reason
    assert "while True:" in decompiled.source
    namespace = {**function.__globals__, **decompiled.placeholders}
    exec(decompiled.source, namespace)
    recompiled = namespace[function.__name__]
    assert isinstance(recompiled, types.FunctionType)
    return recompiled


def scripts() -> list[tuple[object, ...]]:
    """Return what is done at each of three places, in all ways."""
    return [(a, b, c) for a in OUTCOMES for b in OUTCOMES for c in OUTCOMES]


@pytest.mark.parametrize("function", [*PROGRAMS, generator, asynchronous], ids=lambda f: f.__name__)
def test_what_is_dispatched_does_the_same(function: types.FunctionType) -> None:
    recompiled = written(function)
    for script in scripts() if function is not asynchronous else scripts()[::7]:
        assert outcome_of(recompiled, script) == outcome_of(function, script), script


def test_a_value_on_the_stack_is_computed_before_the_test_that_uses_it() -> None:
    def between(low, x, high):
        return low() <= x() < high() or x() is None

    recompiled = written(between)
    for x in (1, 5, 9):
        calls: list[int] = []

        def say(n: int, calls: list[int] = calls) -> int:
            calls.append(n)
            return n

        first = between(lambda: say(2), lambda n=x: say(n), lambda: say(7)), calls.copy()
        calls.clear()
        assert (recompiled(lambda: say(2), lambda n=x: say(n), lambda: say(7)), calls) == first


def test_what_is_nested_too_deep_for_scopes_is_written_in_two_levels() -> None:
    source = "def f():\n"
    for depth in range(10):
        source += " " * (2 * depth + 1) + "try: g()\n" + " " * (2 * depth + 1) + "except E:\n"
    source += " " * 21 + "pass\n"
    namespace: dict[str, object] = {}
    exec(source, namespace)
    function = namespace["f"]
    assert isinstance(function, types.FunctionType)
    assert decompile_function(function.__code__, without=FLAT).level is Level.EQUIVALENT
    assert decompile_function(function.__code__).level is Level.EXACT


def test_the_budget_counts_what_the_compiler_counts() -> None:
    import ast

    def nest(depth: int) -> list[ast.stmt]:
        lines = [" " * level + "while a:" for level in range(depth)]
        return ast.parse("\n".join([*lines, " " * depth + "pass"])).body

    assert not nests_too_deep(nest(20))
    assert nests_too_deep(nest(21))
    chain = "if a: pass\n" + "elif b: pass\n" * 300
    assert not nests_too_deep(ast.parse(chain).body)
