"""Handlers that part groups of exceptions, written by dispatch: they do the same, and are proven to."""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Callable
from typing import Any

import pytest

from depyf.decompiler.function import decompile_function
from depyf.verify.level import Level

if sys.version_info < (3, 11):
    pytest.skip("groups of exceptions came with Python 3.11", allow_module_level=True)

Group: Any = getattr(builtins, "ExceptionGroup", None)
WAYS = {"scopes": frozenset({"build"}), "levels": frozenset({"build", "dispatch"})}
PROGRAMS = {
    "clauses": """
    try:
        act(0)
    except* ValueError as error:
        log.append((error, sys.exc_info()[1] is error))
    except* (TypeError, KeyError):
        raise
    else:
        log.append("else")
    return "end"
""",
    "nested": """
    try:
        act(0)
    except* ValueError as error:
        log.append(error)
        try:
            act(1)
        except* TypeError as other:
            log.append((other, other.__context__))
            raise
        log.append(sys.exc_info()[1] is error)
        raise
    finally:
        log.append(sys.exc_info()[1])
""",
    "loop": """
    for number in range(3):
        try:
            act(number)
        except* ValueError:
            raise
        except* KeyError as key:
            raise IndexError(number) from key
        else:
            log.append(number)
""",
    "handled in a body": """
    try:
        try:
            act(0)
        except* ValueError as error:
            try:
                raise error
            except Exception as again:
                log.append(again is error)
            raise
        except* KeyError as key:
            log.append(key)
            act(1)
    except* OSError as error:
        log.append(error)
    except* ValueError as error:
        log.append(error)
        raise error
""",
}


def function(body: str) -> types.FunctionType:
    namespace: dict[str, Any] = {"sys": sys}
    exec(f"def f(log, act):{body}", namespace)
    recompiled = namespace["f"]
    assert isinstance(recompiled, types.FunctionType)
    return recompiled


def raising(*errors: Callable[[], BaseException] | None) -> Callable[[int], None]:
    def act(number: int) -> None:
        error = errors[number] if number < len(errors) else None
        if error is not None:
            raise error()

    return act


def both() -> BaseException:
    return Group("both", [ValueError(1), KeyError(2)])


def deep() -> BaseException:
    return Group("deep", [Group("inner", [ValueError(1), OSError(3)]), KeyError(2), ValueError(4)])


ERRORS: list[tuple[Callable[[], BaseException] | None, ...]] = [
    (),
    (lambda: ValueError(1),),
    (lambda: KeyError(1),),
    (lambda: OSError(1),),
    (both,),
    (deep,),
    (deep, lambda: Group("other", [TypeError(5), ValueError(6)])),
    (both, lambda: TypeError(7)),
    (None, both),
]


def shown(value: object) -> object:
    if isinstance(value, BaseException):
        return repr(value), shown(value.__context__)
    return tuple(map(shown, value)) if isinstance(value, tuple) else value


def observed(run: Callable[..., object], errors: tuple[Callable[[], BaseException] | None, ...]) -> list[object]:
    log: list[object] = []
    try:
        log.append(run(log, raising(*errors)))
    except BaseException as error:  # noqa: BLE001
        log.append(error)
    return list(map(shown, log))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_groups_are_parted_without_a_statement(name: str, way: str) -> None:
    original = function(PROGRAMS[name])
    decompiled = decompile_function(original.__code__, without=WAYS[way])
    assert decompiled.level is Level.EQUIVALENT, decompiled.reason
    assert "except*" not in decompiled.source
    assert decompiled.compiled is not None
    ours = types.FunctionType(decompiled.compiled, {"sys": sys})
    for errors in ERRORS:
        assert observed(ours, errors) == observed(original, errors)
