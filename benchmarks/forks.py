"""Runs programs as `depyf run --no-html` does, each in a fork of one process that has imported torch.

    python -m benchmarks.forks        # that process: a program a line on its input, as JSON

The imports of torch and depyf take most of the time of a small program. The process itself compiles nothing and starts
no thread, so that a fork of it is safe. A child returns to the bottom of its stack before it runs the program, so
Python ends the child like any program.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import subprocess
import sys
import time
import types
from pathlib import Path
from typing import Any, NamedTuple

from depyf.cli.launch.capture import _Capture
from depyf.cli.launch.offered import offered
from depyf.cli.launch.settings import NAMES_OF_NODES, PROVENANCE, Settings, environment
from depyf.cli.launch.summary import lines, summarised
from depyf.fix.nursery import preload, preload_compiler


class Ran(NamedTuple):
    """The end of a program: its exit code, negative for a signal, and all that it and depyf printed."""

    code: int
    output: str


class Forks:
    """The process that forks, as its user sees it. The `with` statement ends it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.forks"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={PROVENANCE: NAMES_OF_NODES, **os.environ},
        )

    def __enter__(self) -> Forks:
        """Return this."""
        return self

    def __exit__(self, *error: object) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def run(self, program: Path, dump: Path | None, longest: float) -> Ran:
        """Run one program.

        Args:
            program: its file.
            dump: the directory of the dump; None to run it without depyf.
            longest: the most seconds that it may take.

        Returns:
            How it ended and what was printed.

        Raises:
            TimeoutError: if it took longer. It has been killed.
        """
        began, printed = time.time(), Path(os.devnull)
        if dump is not None:
            dump.mkdir(parents=True, exist_ok=True)
            printed = dump.with_name(f"{dump.name}.printed")
        self._send({"program": str(program), "dump": str(dump or ""), "printed": str(printed)})
        pid = int(self._receive(None) or 0)
        code = self._receive(longest)
        if code is None:
            os.killpg(pid, signal.SIGKILL)
            self._receive(None)
            raise TimeoutError(f"{program} took more than {longest:g} s")
        if dump is None:
            return Ran(int(code), "")
        told = lines(summarised(dump, began), dump, dump)
        offers = offered(dump, dump, began, Settings(str(dump), os.getpid()), [str(program)])
        output = [printed.read_text(errors="replace"), *(f"depyf: {row}" for row in told), *offers]
        return Ran(int(code), "\n".join(output))

    def _send(self, message: dict[str, str]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _receive(self, seconds: float | None) -> str | None:
        """Return the next line, or None if there is none in time. A line is written at once, so a part is never read.

        Raises:
            RuntimeError: if the process has ended.
        """
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        if not select.select([descriptor], [], [], seconds)[0]:
            return None
        row = b""
        while not row.endswith(b"\n"):
            byte = os.read(descriptor, 1)
            if not byte:
                raise RuntimeError("the process that forks has ended")
            row += byte
        return row.decode().strip()


def _wait_for_program() -> dict[str, Any]:
    """Serve programs until the input ends. Return only in a child, with what it has to run."""
    while row := sys.stdin.readline():
        message: dict[str, Any] = json.loads(row)
        pid = os.fork()
        if pid == 0:
            return message
        print(pid, flush=True)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    sys.exit()


def _become(message: dict[str, Any]) -> types.CodeType:
    """Make this child the process of its program, begin the capture, and return the program's code."""
    os.setsid()
    for number, (path, flags) in enumerate(((os.devnull, os.O_RDONLY), *[(message["printed"], _APPENDS)] * 2)):
        opened = os.open(path, flags, 0o644)
        os.dup2(opened, number)
        os.close(opened)
    program = Path(message["program"])
    sys.argv, sys.path[0] = [str(program)], str(program.parent)
    if message["dump"]:
        settings = Settings(message["dump"], os.getppid(), stack_after=60.0)
        os.environ.update(environment(settings))
        _Capture(settings).begin()
    return compile(program.read_text(), str(program), "exec", dont_inherit=True)


_APPENDS = os.O_WRONLY | os.O_CREAT | os.O_APPEND

if __name__ == "__main__":
    preload()
    preload_compiler()
    for _name in ("torch.optim", "torch.distributed.tensor", "depyf.torch.capture.calls"):
        importlib.import_module(_name)
    importlib.import_module("torch._dynamo").list_backends()
    # A collection in a child would visit, and so copy, everything that torch has made at its import.
    gc.collect()
    gc.freeze()
    _message = _wait_for_program()
    _code = _become(_message)
    _main = types.ModuleType("__main__")
    _main.__file__, _main.__dict__["__builtins__"] = _message["program"], __builtins__
    sys.modules["__main__"] = _main
    exec(_code, _main.__dict__)
