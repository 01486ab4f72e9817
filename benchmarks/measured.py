"""The interpreters that benchmarks measure in, each with one tool: asked one task at a time, in turns."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

WORKER = Path(__file__).resolve().parent / "worker.py"


@dataclass(frozen=True)
class Answer:
    """What one task took: `status` is done, failed, late, died or no program; `seconds` are the processor's."""

    status: str
    seconds: float
    level: str
    why: str


def answer_of(written: Mapping[str, Any]) -> Answer:
    """Return the answer that an interpreter has written."""
    return Answer(written["status"], written.get("seconds", 0.0), written.get("level", ""), written.get("why", ""))


class Measured:
    """A tool in an interpreter; it is started again when it dies, and ended with the `with` statement."""

    def __init__(self, python: str, tool: str, *, limit: float = 5.0) -> None:
        self.command = [python, str(WORKER), tool]
        self.environment = {**os.environ, "BENCHMARK_LIMIT": str(limit), "PYTHONHASHSEED": "0"}
        self.environment.pop("PYTHONPATH", None)
        self.setup: dict[str, object] | None = None
        self._start()

    def _start(self) -> None:
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=self.environment,
        )

    def sample(self, size: int, seed: int = 0) -> None:
        """Draw the sample of functions that `index` counts."""
        self.setup = {"sample": [size, seed]}
        if self._send(self.setup).get("size") != size:
            raise RuntimeError(f"{' '.join(self.command)} did not draw its sample")

    def ask(self, task: Mapping[str, object]) -> Answer:
        """Have one task done."""
        answered = self._send(task)
        if not answered:
            self.process.wait()
            self._start()
            if self.setup is not None:
                self._send(self.setup)
            return Answer("died", 0.0, "", "the process ended")
        return answer_of(answered)

    def ask_for(self, first: int, end: int) -> list[Answer]:
        """Have the functions of the sample from `first` up to `end` done in a row."""
        answered = self._send({"range": [first, end]})
        if answered:
            return [answer_of(answer) for answer in answered["answers"]]
        self.process.wait()
        self._start()
        if self.setup is not None:
            self._send(self.setup)
        return [self.ask({"index": index}) for index in range(first, end)]

    def _send(self, task: Mapping[str, object]) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(task) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        answer: dict[str, Any] = json.loads(line) if line else {}
        return answer

    def __enter__(self) -> Measured:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
