"""A process that has imported torch and forks a child for each try: `python -m depyf.fix.nursery [MODULES]`.

It also imports MODULES first, which must then have no edited text.

It reads the file of a plan from each line of its input. For each it prints two lines: the process id of the child,
which leads a session of its own, and the child's exit code. A try then does not pay for the imports. The nursery itself
runs nothing and starts no thread, so that a fork of it is safe.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
from pathlib import Path

from depyf.fix.plan import Plan, read_plan

STARTED = "pid"
ENDED = "code"
COMPILER = ("torch._inductor.compile_fx", "torch.export._trace", "torch._dynamo.repro.after_dynamo")
"""Modules that the first compile of a process imports. They have moved between releases of torch."""


def wait_for_plan() -> Path:
    """Serve plans until the input ends. Return only in a child, with the file of its plan.

    The child returns so that Python ends it like any program, with its exit handlers and its threads.
    """
    while line := sys.stdin.readline():
        file = Path(line.rstrip("\n"))
        pid = os.fork()
        if pid == 0:
            _begin(read_plan(file))
            return file
        print(STARTED, pid, flush=True)
        _, status = os.waitpid(pid, 0)
        print(ENDED, os.waitstatus_to_exitcode(status), flush=True)
    sys.stdout.flush()
    os._exit(0)


def _begin(plan: Plan) -> None:
    """Give a child the directory and the streams of its plan, and a session of its own."""
    os.setsid()
    os.chdir(plan.directory)
    for number, (path, flags) in enumerate(plan.streams):
        opened = os.open(path, flags, 0o644)
        os.dup2(opened, number)
        os.close(opened)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        mode = "r" if name == "stdin" else "w"
        buffering = 1 if name == "stderr" else -1
        stream = open(number, mode, buffering, closefd=False)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def preload() -> None:
    """Import what every program that compiles needs."""
    import torch
    import torch._dynamo

    import depyf.fix.results
    import depyf.torch.capture.prepare
    import depyf.torch.dump.views  # noqa: F401

    assert torch is not None and depyf is not None


def preload_compiler() -> None:
    """Import Inductor, whose imports take as long as those of torch. It starts no workers before the first compile."""
    import depyf.torch.capture.transform
    import depyf.views.process_index  # noqa: F401

    for name in COMPILER:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


if __name__ == "__main__":
    from depyf.fix.child import main

    preload()
    preload_compiler()
    for module in sys.argv[1:]:
        importlib.import_module(module)
    # A collection in a child would visit, and so copy, everything that torch has made at its import.
    gc.collect()
    gc.freeze()
    main(str(wait_for_plan()))
