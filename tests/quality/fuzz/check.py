"""Decompile one program, run it beside what came of it, and say whether anybody could tell them apart."""

from __future__ import annotations

import builtins
import gc
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

from depyf.api import decompile_code
from depyf.bytecode.versions.known import FACTS
from depyf.bytecode.versions.running import RUNNING
from depyf.decompiler.function import Decompiled
from depyf.decompiler.pipeline.table import NOTHING
from depyf.errors import DecompilationError
from depyf.verify.candidate.recompile import recompile
from depyf.verify.level import Level
from tests.quality.fuzz.drive import drive, drive_async
from tests.quality.fuzz.observed import Trace, Value, shown

OPCODES = {name: number for number, name in FACTS[RUNNING].table.opcodes.items()}
ORIGINAL, OURS = "the original", "what it became"
FAULT = "a fault of depyf"
"""What a warning of depyf about itself begins with."""
RUNS = ((1, 0.0, 12), (2, 0.02, 12), (3, 0.05, 20), (4, 0.1, 30), (5, 0.25, 12))
"""Seed, how likely an operation raises, and fuel of each input."""


@dataclass(frozen=True)
class Outcome:
    """What became of a program: `same`, `different`, or `failed`; how far it was proven; and why no further.

    faults: what depyf warned of as a fault of its own, that it found a way around.
    """

    kind: str
    level: Level
    reason: str
    source: str = ""
    faults: tuple[str, ...] = ()


def check(code: types.CodeType, without: frozenset[str] = NOTHING) -> Outcome:
    """Decompile a code object, some passes left out, and compare runs."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RuntimeWarning)
        outcome = compared(code, without)
    faults = tuple(str(warning.message) for warning in caught if str(warning.message).startswith(FAULT))
    return replace(outcome, faults=faults) if faults else outcome


def compared(code: types.CodeType, without: frozenset[str]) -> Outcome:
    """Decompile a code object, and say how its runs and those of the original differ."""
    try:
        decompiled = decompile_code(code, without=without)
        stand_in = recompiled(code, decompiled)
    except DecompilationError as error:
        return Outcome("failed", Level.UNPROVEN, str(error))
    except RecursionError:
        return Outcome("failed", Level.UNPROVEN, "recursion")
    except Exception as error:  # noqa: BLE001  (any other error of the decompiler is what is looked for)
        return Outcome("failed", Level.UNPROVEN, f"{type(error).__name__}: {error}")
    for number in range(len(RUNS)):
        mine, its = observe(code, number, code), observe(stand_in, number, code)
        if mine != its:
            return Outcome("different", decompiled.level, first_difference(mine, its), decompiled.module_source)
    return Outcome("same", decompiled.level, decompiled.reason, decompiled.module_source)


def run_alone(code: types.CodeType, side: str, without: frozenset[str] = NOTHING) -> None:
    """Run one side on all inputs: a process that ends here ends because of that side."""
    code_run = code if side == ORIGINAL else recompiled(code, decompile_code(code, without=without))
    for number in range(len(RUNS)):
        observe(code_run, number, code)
    gc.collect()


def recompiled(code: types.CodeType, decompiled: Decompiled) -> types.CodeType:
    """Return the code object of a decompiled function."""
    return recompile(
        decompiled.module_source,
        code,
        filename="<stand-in>",
        placeholders=decompiled.placeholders,
        function=decompiled.function,
        names=decompiled.names,
        functions=decompiled.functions,
    )


def observe(code: types.CodeType, number: int, original: types.CodeType) -> list[object]:
    """Return all that can be observed of one run of a program, or of what became of it."""
    trace = Trace(*RUNS[number], groups_for(original))

    def import_(name: str, namespace: object, local: object, wanted: object, level: int) -> Value:
        return Value(trace, trace.note("import", name, wanted, level))

    namespace = {
        "g": Value(trace, -1),
        "h": Value(trace, -2),
        "fuel": trace.is_empty,
        "__builtins__": {**vars(builtins), "__import__": import_},
        "__name__": "fuzz",
    }
    cell = types.CellType(Value(trace, -3))
    function = types.FunctionType(code, namespace, "f", None, (cell,) * len(code.co_freevars))
    arguments = [Value(trace, -4 - number) for number in range(code.co_argcount)]
    log = trace.log
    try:
        result = function(*arguments)
        if isinstance(result, (types.GeneratorType, types.CoroutineType)):
            drive(result, trace)
        elif isinstance(result, types.AsyncGeneratorType):
            drive_async(result, trace)
        else:
            log.append(("returns", shown(result)))
            if isinstance(result, types.FunctionType):
                log.append(("which returns", shown(result())))
    except Exception as error:  # noqa: BLE001  (whatever it raises is what is observed)
        log.append(("raises", shown(error)))
    log.append(("globals", shown(namespace.get("s"))))
    log.append(("free", shown(cell)))
    return log


def groups_for(code: types.CodeType) -> Callable[[str, list[Exception]], Exception] | None:
    """Return what makes groups of exceptions for a program that may part some."""
    may_part = OPCODES.get("CHECK_EG_MATCH") in {*code.co_code[::2]}
    return builtins.ExceptionGroup if may_part else None  # type: ignore[attr-defined,no-any-return,unused-ignore]


def first_difference(mine: list[object], its: list[object]) -> str:
    """Return where two logs part."""
    place = next((place for place, pair in enumerate(zip(mine, its)) if pair[0] != pair[1]), min(len(mine), len(its)))
    texts = [repr(log[place]) if place < len(log) else "nothing" for log in (mine, its)]
    return f"{texts[0][:300]} became {texts[1][:300]} at {place}"
