"""Decompiles what it is told to, in the interpreter that is measured, and answers what that took.

    python benchmarks/worker.py TOOL

TOOL is `ours`, `ours-verified`, or an adapter of `benchmarks/roundtrip`. One task a line on stdin, as JSON:
{"sample": [size, seed]} draws functions from the standard library and answers their number, {"index": n} decompiles one
of them, {"range": [m, n]} those from m up to n, {"family": name, "n": n} a program of `families`, {"pyc": path} a
module. All of this runs on Python 3.7 too.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import signal
import sys
import time
import types
from collections.abc import Callable
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
LIMIT = float(os.environ.get("BENCHMARK_LIMIT", "5"))
"""Seconds of the processor that one task may take."""


class Late(BaseException):
    """The time is up; no `except Exception` of a tool holds it back."""


def _late(_signal: int, _frame: types.FrameType | None) -> None:
    raise Late


class Tool:
    """One decompiler."""

    def __init__(self, name: str) -> None:
        self.name = name
        sys.path[:0] = [HERE, os.path.join(ROOT, "benchmarks", "roundtrip")]
        if name.startswith("ours"):  # A peer may be another depyf.
            sys.path.insert(0, os.path.join(ROOT, "src"))
        self.adapter = importlib.import_module("adapters." + name) if not name.startswith("ours") else None
        self.sample: list[types.CodeType] = []

    def function(self, code: types.CodeType) -> object:
        """Decompile a function's code, in a module of its own if the tool wants it so."""
        if self.adapter is None:
            from depyf.decompiler import api

            return api.decompile_code(code) if self.name == "ours-verified" else api.decompile(code)
        if hasattr(self.adapter, "decompile_function"):
            return self.adapter.decompile_function(code)
        rebuild = importlib.import_module("rebuild")
        return self.adapter.decompile_module_code(rebuild.as_module(code))

    def pyc(self, path: str) -> object:
        """Decompile a module."""
        if self.adapter is None:
            from depyf.decompiler import api

            return api.decompile_module_pyc(path) if self.name == "ours-verified" else api.decompile_pyc(path)
        import marshal

        with open(path, "rb") as file:
            return self.adapter.decompile_module_code(marshal.loads(file.read()[16:]))

    def answer(self, task: dict[str, Any]) -> dict[str, object]:
        """Do one task."""
        if "sample" in task:
            size, seed = task["sample"]
            self.sample = functions(size, seed)
            timed(self.function, self.sample[0])  # What is imported or built at the first use counts for none.
            return {"size": len(self.sample)}
        if "pyc" in task:
            return timed(self.pyc, task["pyc"])
        if "index" in task:
            return timed(self.function, self.sample[task["index"]])
        if "range" in task:
            return {"answers": [timed(self.function, code) for code in self.sample[slice(*task["range"])]]}
        try:
            code = program(task["family"], task["n"])
        except (SyntaxError, RecursionError, MemoryError) as error:
            return {"status": "no program", "why": str(error)}
        if not self.sample:
            self.sample = [program(task["family"], 1)]
            timed(self.function, self.sample[0])
        return timed(self.function, code)


def functions(size: int, seed: int) -> list[types.CodeType]:
    """Return the sample of functions that the round trip draws."""
    library = importlib.import_module("library")
    items = library.collect(library.stdlib_dir())
    return [code for _, _, code in random.Random(seed).sample(items, size)]


def program(family: str, n: int) -> types.CodeType:
    """Return the function of a family's program of size `n`."""
    families = importlib.import_module("families")
    text = families.FAMILIES[family].text(n)
    module = compile(text, f"<{family}>", "exec", dont_inherit=True)
    return next(const for const in module.co_consts if isinstance(const, types.CodeType))


def timed(work: Callable[[Any], object], task: object) -> dict[str, object]:
    """Do some work; return the seconds of the processor that it took, and how it ended."""
    signal.setitimer(signal.ITIMER_PROF, LIMIT, 0.3)
    began = time.thread_time()  # That of the process is coarse on some systems while its timer runs.
    level = reason = None
    try:
        result = work(task)
        status = "done"
        level, reason = getattr(result, "level", None), getattr(result, "reason", "")
    except Late:
        status = "late"
    except Exception as error:  # noqa: BLE001 - whatever a tool raises is its answer
        status, reason = "failed", f"{type(error).__name__}: {str(error)[:200]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    answer: dict[str, object] = {"status": status, "seconds": time.thread_time() - began}
    if level is not None:
        answer["level"] = level.name
    if reason:
        answer["why"] = str(reason)
    return answer


def main() -> None:
    """Answer until there are no more tasks."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # What a tool prints is no answer.
    signal.signal(signal.SIGPROF, _late)
    tool = Tool(sys.argv[1])
    for line in sys.stdin:
        out.write(json.dumps(tool.answer(json.loads(line))) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
