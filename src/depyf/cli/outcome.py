"""What came of one target."""

from __future__ import annotations

import time
from dataclasses import dataclass

from depyf.api import decompile_code, decompile_module, source_of
from depyf.cli.target import Function, Module
from depyf.decompiled_module import module_source
from depyf.pipeline import NOTHING
from depyf.verify.level import Verdict
from depyf.verify.oracle import Oracle


@dataclass(frozen=True, slots=True)
class Outcome:
    """A source, what was proven of it (None: nobody asked), and the seconds that it took."""

    source: str
    verdict: Verdict | None
    seconds: float


def decompile_found(
    found: Module | Function, *, prove: bool, without: frozenset[str] = NOTHING, oracle: Oracle | None = None
) -> Outcome:
    """Decompile what a target leads to.

    Raises DecompilationError for code that cannot be decompiled.
    """
    start = time.perf_counter()
    verdict = None
    match found:
        case Module(code) if prove:
            module = decompile_module(code, oracle=oracle, without=without)
            source, verdict = module.source, module.verdict
        case Module(code):
            source = module_source(code, without=without)
        case Function(code) if prove:
            function = decompile_code(code, without=without)
            source, verdict = function.source, function.verdict
        case Function(code):
            source = source_of(code, without=without)
    return Outcome(source, verdict, time.perf_counter() - start)
