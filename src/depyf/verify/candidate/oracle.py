"""Compile sources for other versions of Python, in worker processes that run those versions.

A worker compiles a source and sends back the marshalled code, which depyf's own reader reads. The source is never
executed. A worker that takes too long is killed, a dead worker is replaced, and all workers end with the program.
"""

from __future__ import annotations

import atexit
import subprocess
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from dataclasses import field
from types import TracebackType
from typing import IO

from depyf.bytecode.code import Code
from depyf.bytecode.pyc import HEADER_SIZE, load
from depyf.bytecode.records import dataclass
from depyf.errors import DecompilationError
from depyf.verify.candidate.interpreters import START, Version, find_interpreter
from depyf.verify.candidate.oracle_worker import PROGRAM

LIMIT = 20.0
"""The time limit for one source, in seconds."""
MEMORY = 2 << 30
"""The limit of a worker's address space, in bytes, on systems that support it."""


class NotCompiled(Exception):
    """A source was not compiled; the message says why."""


class Died(NotCompiled):
    """The interpreter exited instead of answering."""


class Worker:
    """One interpreter that compiles. `magic` is the magic number of its code.

    Raises NotCompiled if it does not start.
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

        Raises Died if the process exits, and NotCompiled if there is no answer within `limit` seconds.
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
        """Run `ask` in a thread, because pipes have no timeout. A late or dead worker is killed."""
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
            raise Died("the interpreter exited instead of compiling it") from None

    def _read(self) -> bytes:
        stdout = self.process.stdout
        assert stdout is not None
        return _exactly(stdout, int.from_bytes(_exactly(stdout, 4), "little"))

    def close(self) -> None:
        """End the process and wait for its exit."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue  # Unsent data for an ended process is not needed.


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


@dataclass(slots=True)
class Oracle:
    """Interpreters of other versions, started on first use. Thread-safe.

    folders: the folders to search for interpreters first.
    limit: the time limit for one source, in seconds.
    """

    folders: Sequence[str] = ()
    limit: float = LIMIT
    paths: dict[Version, str | None] = field(default_factory=dict)
    idle: dict[Version, list[Worker]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def compile(self, text: str, version: Version) -> Code:
        """Return a source compiled as a module by an interpreter of a version.

        Raises NotCompiled if there is no such interpreter, it does not finish, or the source does not compile.
        """
        data = text.encode("utf-8", "surrogatepass")
        worker = self._take(version)
        try:
            answer = worker.compile(data, self.limit)
        except Died:
            if not worker.answered:
                raise
            # An earlier source may have killed the worker.
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
            raise NotCompiled(f"code compiled by {self._path(version)} cannot be read: {error.reason}") from error

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
        """End all idle workers."""
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
    """Return the oracle of this process, which ends with the process."""
    if not _SHARED:
        _SHARED.append(Oracle())
        atexit.register(_SHARED[0].close)
    return _SHARED[0]


_SHARED: list[Oracle] = []
