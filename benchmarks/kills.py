"""Runs that are killed with SIGKILL at random moments: what their reports have lost.

    python -m benchmarks.kills            # 200 runs
    python -m benchmarks.kills 20 --seed 5

Each program compiles small functions all the time, with graph breaks, recompiles, failures and calls. It notes what it
sees of torch's own records and of its own calls in a file of its own. What it noted more than a second before it was
killed has to be in the report, which has to be built. Prints what is missing, and exits with 1 if anything is.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
import torch._dynamo

import depyf
from depyf.model.index_reader import read_run
from depyf.model.run import Session
from depyf.views.html.build import build_report

EARLIEST, LATEST = 0.05, 4.0
"""Seconds after its start between which a program is killed."""
SURE = 1.0
"""Seconds before the kill until which all that was seen has to be told."""


class Witness(logging.Handler):
    """Notes torch's records, with the time of each, in a file that is written at once."""

    def __init__(self, path: Path) -> None:
        super().__init__(logging.DEBUG)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def emit(self, record: logging.LogRecord) -> None:
        """Note the begin and end of compiles, and graph breaks."""
        metadata: Mapping[str, Any] = getattr(record, "metadata", {})
        for kind in ("dynamo_start", "compilation_metrics"):
            if kind in metadata:
                self.note(kind, f"{metadata.get('frame_id')}/{metadata.get('frame_compile_id')}")
        if metadata.get("artifact", {}).get("name") == "dynamo_graph_break_reason":
            self.note("break", f"{metadata.get('frame_id')}/{metadata.get('frame_compile_id')}")

    def note(self, kind: str, what: str) -> None:
        """Write one line."""
        os.write(self._file, f"{json.dumps([time.time(), kind, what])}\n".encode())


def plain(x: torch.Tensor, n: int) -> torch.Tensor:
    """Return something of one graph; a recompile for each size."""
    return torch.sin(x) * n


def broken(x: torch.Tensor, n: int) -> torch.Tensor:
    """Return something of two graphs."""
    x = x + n
    torch._dynamo.graph_break()
    return x * 2


def failing(graph: object, inputs: object) -> Any:  # noqa: ANN401 - a backend
    """Raise, as a backend that does not know a kernel."""
    raise RuntimeError("no such kernel")


def program(seed: int, directory: Path, witness: Path) -> None:
    """Compile and call small functions until killed."""
    choose = random.Random(seed)
    noted = Witness(witness)
    with depyf.prepare_debug(directory, keep_index=True):
        logging.getLogger("torch.__trace").addHandler(noted)
        while True:
            torch._dynamo.reset()
            backend: Any = choose.choice(["eager", "eager", "aot_eager", failing])
            function = choose.choice([plain, broken])
            compiled = torch.compile(function, backend=backend, dynamic=False)
            for size in range(2, choose.randint(3, 6)):
                with contextlib.suppress(torch._dynamo.exc.BackendCompilerFailed):
                    for _ in range(choose.randint(1, 50)):
                        compiled(torch.ones(size), size)
                        if function is plain:
                            noted.note("call", "plain")


def killed(seed: int, directory: Path, witness: Path) -> float:
    """Run a program in a process of its own and kill it; return when."""
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            program(seed, directory, witness)
        os._exit(1)
    time.sleep(random.Random(-1 - seed).uniform(EARLIEST, LATEST))
    os.kill(child, signal.SIGKILL)
    at = time.time()
    assert os.waitpid(child, 0)[1] == signal.SIGKILL, "the program ended by itself"
    return at


def seen(witness: Path, until: float) -> Counter[tuple[str, str]]:
    """Return what a program had noted until some time, and how often."""
    lines = witness.read_text().splitlines() if witness.exists() else []
    records = (json.loads(line) for line in lines if line.endswith("]"))
    return Counter((kind, what) for at, kind, what in records if at <= until)


def told(session: Session) -> Counter[tuple[str, str]]:
    """Return the same of what a report tells."""
    counts: Counter[tuple[str, str]] = Counter()
    for function, compiled in session.compiles():
        name = str(compiled.id.of_torch)
        counts["dynamo_start", name] += compiled.attempts
        counts["compilation_metrics", name] += not compiled.phase
        counts["break", name] += len(compiled.breaks)
        if function.name == "plain":
            counts["call", "plain"] += compiled.hits or 0
    return counts


def lost(seed: int, scratch: Path) -> list[str]:
    """Return what the report of a killed program lacks; nothing where the program was killed before it began."""
    directory, witness = scratch / "dump", scratch / "witness"
    until = killed(seed, directory, witness) - SURE
    sure = seen(witness, until)
    if not sure and not (directory / "running.jsonl").exists():
        return []
    build_report(directory)
    reported = told(read_run(directory).session)
    return [
        f"{kind} {what}: {count} seen, {reported[kind, what]} told"
        for (kind, what), count in sure.items()
        if reported[kind, what] < count
    ]


def main() -> int:
    """Kill programs and look at their reports."""
    parser = argparse.ArgumentParser()
    parser.add_argument("runs", nargs="?", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as scratch, depyf.prepare_debug(scratch):
        torch.compile(plain, backend="aot_eager")(torch.ones(2), 1)  # All is imported before the first fork.
    readable = complete = things = 0
    for seed in range(options.seed, options.seed + options.runs):
        with tempfile.TemporaryDirectory() as scratch:
            try:
                missing = lost(seed, Path(scratch))
                readable += 1
            except (OSError, ValueError, KeyError) as error:
                missing = [repr(error)]
            things += sum(seen(Path(scratch) / "witness", time.time()).values())
            complete += not missing
            for loss in missing:
                print(f"run {seed}: {loss}", flush=True)
    print(f"readable reports: {readable} of {options.runs}; nothing lost: {complete} of {options.runs}")
    print(f"things seen by the programs: {things}")
    return 0 if complete == options.runs else 1


if __name__ == "__main__":
    sys.exit(main())
