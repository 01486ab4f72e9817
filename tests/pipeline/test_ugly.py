"""What an optional pass leaves undone is uglier, and still right."""

from __future__ import annotations

import functools

import pytest

from corpus.opcodes.programs import programs
from depyf.api import decompile_code
from depyf.bytecode.code import Code
from depyf.bytecode.normalise import normalise
from depyf.bytecode.reader import read
from depyf.decompiler.module import decompile_module
from depyf.decompiler.pipeline.table import BUILD, OPTIONAL
from depyf.verify.frame_readers import reads_frame
from depyf.verify.level import Level
from tests import interpreters
from tests.oracles import compiled, oracle
from tests.pipeline.samples import functions

# Iterators by hand need a name for `iter`, which no module has; functions get it as a constant.
IN_MODULES = sorted(OPTIONAL - {BUILD})
EVERY = 20


@functools.cache
def modules(version: tuple[int, int]) -> list[tuple[str, Code]]:
    return [
        (program.name, compiled(program.source, version)) for program in programs() if program.runs_on(version)
    ]


@functools.cache
def levels(version: tuple[int, int], without: str) -> dict[str, Level]:
    left_out = frozenset((without,)) if without else frozenset()
    return {
        name: decompile_module(code, oracle=oracle(version), without=left_out).level for name, code in modules(version)
    }


@pytest.mark.parametrize("version", [(3, 8), (3, 10), (3, 14)], ids=interpreters.label)
@pytest.mark.parametrize("name", IN_MODULES)
def test_modules_without_a_pass(name: str, version: tuple[int, int]) -> None:
    worse = [
        program
        for program, level in levels(version, name).items()
        if level is Level.UNPROVEN and levels(version, "")[program] is not Level.UNPROVEN
    ]
    assert worse == []


@functools.cache
def proven() -> frozenset[int]:
    return frozenset(
        number
        for number, code in enumerate(functions(EVERY))
        if decompile_code(code).level is not Level.UNPROVEN
    )


def worse(without: frozenset[str]) -> list[str]:
    """Return the functions that are proven, but not without some passes.

    A function that may look at its own variables sees those that a loop that dispatches needs: it is left out.
    """
    unproven = []
    for number, code in enumerate(functions(EVERY)):
        if number in proven() and not reads_frame(normalise(read(code))):
            result = decompile_code(code, without=without)
            if result.level is Level.UNPROVEN:
                unproven.append(f"{code.co_name}: {result.reason}")
    return unproven


@pytest.mark.parametrize("name", IN_MODULES)
def test_functions_without_a_pass(name: str) -> None:
    assert worse(frozenset((name,))) == []


def test_functions_as_loops_that_dispatch() -> None:
    assert worse(frozenset((BUILD,))) == []


def test_functions_without_all_that_is_optional() -> None:
    # The body of a class binds names that others see, and the number of a block would be one of them.
    (holds_a_class,) = worse(OPTIONAL)
    assert holds_a_class.startswith("__mro_entries__: Dummy: STORE_NAME")
