"""Exception tables that no compiler writes: ranges that share a handler, handlers exchanged."""

from __future__ import annotations

import itertools
import sys
import types
from collections.abc import Callable

import pytest

from depyf.api import decompile_code
from depyf.bytecode.exception_table import Entry, read_exception_table
from depyf.bytecode.reader import read
from depyf.verify.candidate.layout import varint
from depyf.verify.level import Level

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="tables came with 3.11")


def two(first, second, log):  # type: ignore[no-untyped-def]
    try:
        first()
    except ValueError:
        log.append("value")
    log.append("between")
    try:
        second()
    except KeyError:
        log.append("key")
    log.append("end")
    return log


def table(entries: list[Entry]) -> bytes:
    """Encode the entries of an exception table."""
    data = bytearray()
    for entry in sorted(entries, key=lambda entry: entry.start):
        data += varint(entry.start // 2, 0x80)
        for number in (entry.end - entry.start) // 2, entry.target // 2, entry.depth << 1 | entry.lasti:
            data += varint(number, 0)
    return bytes(data)


def changed(change: Callable[[list[Entry]], list[Entry]]) -> types.FunctionType:
    """Return the function with another exception table."""
    entries = change(read_exception_table(read(two.__code__)))
    return types.FunctionType(two.__code__.replace(co_exceptiontable=table(entries)), {}, "two")


def handlers(entries: list[Entry]) -> list[int]:
    """Return where the exceptions of the two statements go."""
    return list(dict.fromkeys(entry.target for entry in entries if not entry.lasti))


def shared(entries: list[Entry]) -> list[Entry]:
    """Let both statements have the second handler."""
    first, second = handlers(entries)
    return [entry._replace(target=second) if entry.target == first else entry for entry in entries]


def exchanged(entries: list[Entry]) -> list[Entry]:
    """Let each statement have the other's handler."""
    first, second = handlers(entries)
    other = {first: second, second: first}
    return [entry._replace(target=other.get(entry.target, entry.target)) for entry in entries]


def acting(outcomes: list[type[Exception] | None]) -> Callable[[], None]:
    """Return a function that does one thing after another, and in the end nothing."""

    def act() -> None:
        outcome = outcomes.pop(0) if outcomes else None
        if outcome is not None:
            raise outcome("made")

    return act


def outcome(function: Callable[..., object], scripts: tuple[list[type[Exception] | None], ...]) -> list[str]:
    log: list[object] = []
    try:
        function(*(acting(script.copy()) for script in scripts), log)
    except (ValueError, KeyError, IndexError) as error:
        log += [error, error.__context__, sys.exc_info()[0]]
    return [repr(item) for item in log]


WAYS: list[list[type[Exception] | None]] = [[], [ValueError], [KeyError], [IndexError], [KeyError, ValueError]]


@pytest.mark.parametrize("change", [shared, exchanged], ids=lambda change: change.__name__)
def test_it_is_written_and_proven(change: Callable[[list[Entry]], list[Entry]]) -> None:
    original = changed(change)
    decompiled = decompile_code(original.__code__)
    assert decompiled.level >= Level.EQUIVALENT, decompiled.reason
    namespace: dict[str, object] = dict(decompiled.placeholders)
    exec(decompiled.source, namespace)
    recompiled = namespace["two"]
    assert isinstance(recompiled, types.FunctionType)
    for scripts in itertools.product(WAYS, WAYS):
        assert outcome(recompiled, scripts) == outcome(original, scripts), scripts
