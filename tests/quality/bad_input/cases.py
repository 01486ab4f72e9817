"""One case: damaged input, what came of it, and what that cost."""

from __future__ import annotations

import random
import time
import types
import warnings
from dataclasses import dataclass
from pathlib import Path

from depyf.api import decompile_code, decompile_module, load_pyc, source_of
from depyf.decompiler.module import module_source
from depyf.errors import DecompilationError
from tests.quality.bad_input.damage import damaged, damaged_code
from tests.quality.bad_input.seeds import FOLDER, seeds

RESULT, REFUSED, FAULT = "result", "refused", "fault"
PROVEN_ONE_IN = 4
STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")
PEAK_OF_RESIDENT = "5"


@dataclass(frozen=True, slots=True)
class Cost:
    """What came of a case, in detail, with seconds of processor time and bytes of memory on top of what there was."""

    outcome: str
    detail: str
    seconds: float
    memory: int


class Cases:
    """The cases of one seed: even numbers are files, odd ones live code objects of this Python."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.files = seeds()
        module = compile((FOLDER / "source.txt").read_text(encoding="utf-8"), "seed.py", "exec", dont_inherit=True)
        self.codes = _functions(module)

    def run(self, number: int) -> Cost:
        """Run one case; nothing of it is executed."""
        prove = random.Random(f"prove {self.seed}:{number}").randrange(PROVEN_ONE_IN) == 0
        data: bytes | types.CodeType | None
        data = damaged_code(number, self.seed, self.codes) if number % 2 else damaged(number, self.seed, self.files)
        before = reset_peak()
        start = time.process_time()
        try:
            with warnings.catch_warnings():
                # What depyf calls a fault of its own, it has not refused where its cause is.
                warnings.filterwarnings("error", "a fault of depyf", RuntimeWarning)
                detail = _decompiled(data, prove)
            outcome = RESULT
        except DecompilationError as error:
            outcome, detail = REFUSED, str(error)
        except Exception as error:  # noqa: BLE001  this is what the tool looks for
            outcome, detail = FAULT, f"{type(error).__name__}: {error}"
        return Cost(outcome, detail, time.process_time() - start, max(peak() - before, 0))


@dataclass(frozen=True, slots=True)
class Batch:
    """Cases that one process runs one after the other."""

    seed: int
    numbers: tuple[int, ...]


def run_batch(batch: Batch) -> list[tuple[int, Cost]]:
    """Run some cases."""
    cases = Cases(batch.seed)
    return [(number, cases.run(number)) for number in batch.numbers]


def _decompiled(data: bytes | types.CodeType | None, prove: bool) -> str:
    if data is None:
        return "Python refuses to make it"
    if isinstance(data, bytes):
        code = load_pyc(data)
        return str(decompile_module(code).level) if prove else str(len(module_source(code)))
    return str(decompile_code(data).level) if prove else str(len(source_of(data)))


def _functions(module: types.CodeType) -> list[types.CodeType]:
    codes = []
    work = [module]
    while work:
        code = work.pop()
        codes.append(code)
        work.extend(const for const in code.co_consts if isinstance(const, types.CodeType))
    return codes


def reset_peak() -> int:
    """Begin to measure the peak of memory anew; return what is in use, in bytes. On Linux alone."""
    if not CLEAR.exists():
        return 0
    CLEAR.write_text(PEAK_OF_RESIDENT, encoding="ascii")
    return _status("VmRSS:")


def peak() -> int:
    """Return the peak of memory since the last reset, in bytes."""
    return _status("VmHWM:") if STATUS.exists() else 0


def _status(name: str) -> int:
    for line in STATUS.read_text(encoding="ascii").splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    return 0
