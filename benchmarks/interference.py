"""depyf is never in the way: over a hundred programs and forty real models, with depyf and without, bit for bit.

Each subject runs forward and backward on each backend. One process at a time runs some of them, and when it dies the
next goes on behind the subject that it died of. `--results FILE` keeps what has been found, so that a run that was
stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.bar import Bar, none_of, report

BACKENDS = ("eager", "aot_eager", "inductor")
CHUNK = {"program": 30, "model": 3}
SUBJECTS_AT_LEAST = 100
MODELS_AT_LEAST = 30
SECONDS = 1500
"""What one process may take."""


@dataclass(frozen=True)
class Task:
    """A subject on a backend."""

    kind: str
    name: str
    backend: str

    @property
    def key(self) -> str:
        """What its line in the results is found by."""
        return f"{self.kind} {self.name} {self.backend}"


def tasks(backends: Sequence[str], wanted: Sequence[str]) -> list[Task]:
    """Return what is to be run."""
    from benchmarks.dynamo_code import MODULES, load
    from corpus.real_models import REAL_MODELS

    named = [("program", program.name) for module in MODULES for program in load(module)]
    named += [("model", name) for name in REAL_MODELS]
    chosen = [(kind, name) for kind, name in named if not wanted or name in wanted]
    return [Task(kind, name, backend) for backend in backends for kind, name in chosen]


def _environment(scratch: Path) -> dict[str, str]:
    """Return the environment of a run: Inductor compiles anew each time, the C++ compiler only what it has not seen."""
    return os.environ | {
        "TORCHINDUCTOR_FX_GRAPH_CACHE": "0",
        "TORCHINDUCTOR_AUTOGRAD_CACHE": "0",
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "TORCHINDUCTOR_CACHE_DIR": str(scratch / "cache"),
        # Two threads may add numbers up in another order than the same two the next time.
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
    }


def _run(chunk: list[Task], scratch: Path) -> Iterator[dict[str, Any]]:
    """Run tasks of one kind and backend in a process; yield what it says, and of what it dies."""
    from benchmarks.interference_run import MARK

    kind, backend = chunk[0].kind, chunk[0].backend
    command = [sys.executable, "-m", "benchmarks.interference_run", kind, backend, str(scratch)]
    command += [task.name for task in chunk]
    seen = 0
    with tempfile.TemporaryFile("w+") as errors:
        running = subprocess.Popen(
            command, env=_environment(scratch), stdout=subprocess.PIPE, stderr=errors, text=True, bufsize=1
        )
        limit = threading.Timer(SECONDS, running.kill)
        limit.start()
        assert running.stdout is not None
        for line in running.stdout:
            if line.startswith(MARK):
                seen += 1
                yield json.loads(line.removeprefix(MARK))
        running.wait()
        limit.cancel()
        errors.seek(0)
        last = errors.read()[-1500:]
    if seen < len(chunk):
        yield {"name": chunk[seen].name, "crash": f"the process ended with {running.returncode}: {last}"}


def _chunks(pending: list[Task]) -> Iterator[list[Task]]:
    """Yield the next tasks for one process, of what is still pending."""
    while pending:
        first = pending[0]
        alike = [task for task in pending if (task.kind, task.backend) == (first.kind, first.backend)]
        yield alike[: CHUNK[first.kind]]


def run_all(wanted: list[Task], results: Path, scratch: Path) -> dict[str, dict[str, Any]]:
    """Run what `results` does not hold yet; return the outcomes of all tasks by their key."""
    known = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    outcomes = {outcome["key"]: outcome for outcome in known}
    pending = [task for task in wanted if task.key not in outcomes]
    for chunk in _chunks(pending):
        by_name = {task.name: task for task in chunk}
        for outcome in _run(chunk, scratch):
            task = by_name[outcome["name"]]
            pending.remove(task)
            outcomes[task.key] = outcome | {"key": task.key}
            with results.open("a") as file:
                file.write(json.dumps(outcomes[task.key]) + "\n")
    return {task.key: outcomes[task.key] for task in wanted}


def bars(wanted: list[Task], outcomes: dict[str, dict[str, Any]]) -> list[Bar]:
    """Return what came of it."""
    subjects = {(task.kind, task.name) for task in wanted}
    models = [name for kind, name in subjects if kind == "model"]
    total = f"{len(wanted)} ({len(subjects)} subjects)"
    files, compiles = (sum(outcome.get(what, 0) for outcome in outcomes.values()) for what in ("files", "compiles"))

    def each(what: str) -> list[str]:
        values_by_key = [(key, outcome.get(what) or []) for key, outcome in outcomes.items()]
        return [
            f"{key}: {part}" for key, parts in values_by_key for part in ([parts] if isinstance(parts, str) else parts)
        ]

    return [
        Bar("subjects", str(len(subjects)), len(subjects) >= SUBJECTS_AT_LEAST),
        Bar("of these real models", str(len(models)), len(models) >= MODELS_AT_LEAST),
        none_of("runs that died or raised", each("crash"), total),
        none_of("results and gradients that differ", each("different"), total),
        none_of("warnings that are not there without depyf", each("warnings"), total),
        none_of("files that do not compile", each("unreadable"), str(files)),
        none_of("compiles that are UNPROVEN", each("unproven"), str(compiles)),
        none_of("errors inside depyf", each("problems"), total),
    ]


def main() -> None:
    """Print the bars."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only these subjects")
    parser.add_argument("--backend", action="append", choices=BACKENDS, help="only this one; may be given again")
    parser.add_argument("--results", type=Path, help="keep what is found in this file, and go on from it")
    parser.add_argument("--keep", type=Path, help="keep caches and the dumps that show something in this directory")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        scratch = options.keep or Path(temporary)
        scratch.mkdir(parents=True, exist_ok=True)
        wanted = tasks(options.backend or BACKENDS, options.names)
        report(bars(wanted, run_all(wanted, options.results or Path(temporary) / "results.jsonl", scratch)))


if __name__ == "__main__":
    main()
