"""Compile sources for other versions of Python, in interpreters of those versions that run as workers.

A worker compiles what it is sent and sends the marshalled code back, which this package's own reader reads; nothing of
the source is executed. A worker that takes too long is ended, one that has died is replaced, and all are gone when the
program is.
"""

from __future__ import annotations

import atexit
import subprocess
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from dataclasses import dataclass, field
from types import TracebackType
from typing import IO

from depyf.bytecode.code import Code
from depyf.bytecode.pyc import HEADER_SIZE, load
from depyf.errors import DecompilationError
from depyf.verify.candidate.interpreters import START, Version, find_interpreter
from depyf.verify.candidate.oracle_worker import PROGRAM

LIMIT = 20.0
"""Seconds that one source may take to compile."""
MEMORY = 2 << 30
"""Bytes of address space of a worker, on systems that can limit it."""


class NotCompiled(Exception):
    """No code came of a source; the message says why."""


class Died(NotCompiled):
    """The interpreter ended instead of answering."""


class Worker:
    """One interpreter that compiles; `magic` is the magic number of the code that it sends.

    Raises NotCompiled when it does not start.
    """

    def __init__(self, path: str) -> None:
        program = PROGRAM.replace("MEMORY", str(MEMORY))
        self.process = subprocess.Popen(
            [path, "-I", "-S", "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.answered = 0
        self.magic = self._within(self._read, START)

    def compile(self, text: bytes, limit: float) -> bytes:
        """Return the answer to a source.

        Raises Died when the process ends instead, NotCompiled when no answer comes in `limit` seconds.
        """

        def ask() -> bytes:
            stdin = self.process.stdin
            assert stdin is not None
            stdin.write(len(text).to_bytes(4, "little") + text)
            stdin.flush()
            return self._read()

        answer = self._within(ask, limit)
        self.answered += 1
        return answer

    def _within(self, ask: Callable[[], bytes], limit: float) -> bytes:
        """Run `ask` in a thread, as pipes have no time limit; a worker that is late or dead is ended."""
        answer: Future[bytes] = Future()

        def run() -> None:
            try:
                answer.set_result(ask())
            except (OSError, ValueError, EOFError) as error:
                answer.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        try:
            return answer.result(limit)
        except Late:
            self.close()
            raise NotCompiled(f"it was not compiled within {limit:g} s") from None
        except (OSError, ValueError, EOFError):
            self.close()
            raise Died("the interpreter that was to compile it ended") from None

    def _read(self) -> bytes:
        stdout = self.process.stdout
        assert stdout is not None
        return _exactly(stdout, int.from_bytes(_exactly(stdout, 4), "little"))

    def close(self) -> None:
        """End the process and wait until it is gone."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue  # What was not sent to a process that is ended is not missed.


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


@dataclass(slots=True)
class Oracle:
    """Interpreters of other versions, started when they are first asked for. It may be used from several threads.

    folders: where to look for interpreters first.
    limit: seconds that one source may take.
    """

    folders: Sequence[str] = ()
    limit: float = LIMIT
    paths: dict[Version, str | None] = field(default_factory=dict)
    idle: dict[Version, list[Worker]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def compile(self, text: str, version: Version) -> Code:
        """Return a source compiled as a module by an interpreter of a version.

        Raises NotCompiled when there is no such interpreter, it does not finish, or the source does not compile.
        """
        data = text.encode("utf-8", "surrogatepass")
        worker = self._take(version)
        try:
            answer = worker.compile(data, self.limit)
        except Died:
            if not worker.answered:
                raise
            # It may have died of what it was sent before.
            worker = Worker(self._path(version))
            answer = worker.compile(data, self.limit)
        with self.lock:
            self.idle.setdefault(version, []).append(worker)
        if answer[:1] != b"+":
            raise NotCompiled(f"the source does not compile: {answer[1:].decode('utf-8', 'replace')}")
        header = worker.magic + bytes(HEADER_SIZE - len(worker.magic))
        try:
            return load(header + answer[1:], source="<recompiled>")
        except DecompilationError as error:
            raise NotCompiled(f"what {self._path(version)} compiled cannot be read: {error.reason}") from error

    def _path(self, wanted: Version) -> str:
        with self.lock:
            if wanted not in self.paths:
                self.paths[wanted] = find_interpreter(wanted, self.folders)
            path = self.paths[wanted]
        if path is None:
            raise NotCompiled("it was not compiled: there is no CPython {}.{} on this machine".format(*wanted))
        return path

    def _take(self, version: Version) -> Worker:
        with self.lock:
            idle = self.idle.setdefault(version, [])
            if idle:
                return idle.pop()
        return Worker(self._path(version))

    def close(self) -> None:
        """End all workers that wait for work."""
        with self.lock:
            workers = [worker for idle in self.idle.values() for worker in idle]
            self.idle.clear()
        for worker in workers:
            worker.close()

    def __enter__(self) -> Oracle:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def shared_oracle() -> Oracle:
    """Return the oracle of this process, which ends with it."""
    if not _SHARED:
        _SHARED.append(Oracle())
        atexit.register(_SHARED[0].close)
    return _SHARED[0]


_SHARED: list[Oracle] = []
