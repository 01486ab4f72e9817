"""A pass announces every rewrite before it makes it: no form changes in silence."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from corpus.opcodes.programs import programs
from depyf.bytecode.code import Code
from depyf.bytecode.reader import read
from depyf.decompiler.lift.simplify.known import Known
from depyf.decompiler.pipeline.run import decompile
from depyf.decompiler.pipeline.table import BUILD
from depyf.decompiler.show.steps import Steps
from depyf.decompiler.steps import recording
from tests import interpreters
from tests.oracles import compiled
from tests.pipeline.samples import functions

EVERY = 25


def silent(codes: Iterable[Code], *, simplify: bool = False, without: frozenset[str] = frozenset()) -> dict[str, str]:
    """Return, by pass, the first code object whose form it changed without a word."""
    by_pass: dict[str, str] = {}
    for code in codes:
        recorder = Steps()
        with recording(recorder):
            decompile(code, known=Known({"graph": ("first", "second")}) if simplify else None, without=without)
        for change in recorder.found:
            if change.before and change.text != change.before and not change.announced:
                by_pass.setdefault(change.name, f"{change.code}\n{change.before}\n->\n{change.text}")
    return by_pass


def test_functions_of_the_library() -> None:
    assert silent(map(read, functions(EVERY))) == {}


def test_functions_as_loops_that_dispatch() -> None:
    assert silent(map(read, functions(4 * EVERY)), without=frozenset((BUILD,))) == {}


def test_code_that_is_rewritten_to_what_reads_best() -> None:
    written = (frames_as_lists, two_ways, one_result)
    assert silent((read(function.__code__) for function in written), simplify=True) == {}


@pytest.mark.parametrize("version", [(3, 8), (3, 10), (3, 14)], ids=interpreters.label)
def test_every_opcode(version: tuple[int, int]) -> None:
    silent_passes = silent(compiled(program.source, version) for program in programs() if program.runs_on(version))
    assert silent_passes == {}


def frames_as_lists(a, b, f, g):  # type: ignore[no-untyped-def]
    frame = [[a, b], []]
    values = frame[0][0:1]
    values.extend([f])
    frame[0] = values
    rest = frame[-1]
    del frame[-1]
    return g(*[rest, *values])


def two_ways(b, then, otherwise):  # type: ignore[no-untyped-def]
    results = graph(b)  # type: ignore[name-defined]  # noqa: F821
    tmp_1 = results[0]
    tmp_2 = results[1]
    frame = [tmp_1, b]
    if tmp_2:
        return then([], *frame)
    return otherwise([], *frame)


def one_result(b):  # type: ignore[no-untyped-def]
    (value,) = graph(b)  # type: ignore[name-defined]  # noqa: F821
    unused = [1, 2]
    del unused
    return value
