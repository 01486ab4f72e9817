"""How many lines of each stage are linked to lines of yours, and whether kernels are linked as Inductor itself says.

    python -m benchmarks.link_coverage                 # runs the examples with Inductor, and looks at their dumps
    python -m benchmarks.link_coverage DUMP...

Of a stage: its lines of code, those that are linked, and in percent. Lines of code are neither blank nor comments nor
imports nor brackets, nor the heads of classes and of graphs; in a listing, they are instructions that do something.
For kernels, the links go through the nodes of the lowered graph; Inductor also writes the stacks of each call, which
are another source for the same: the innermost lines of those are held against the links.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from depyf.links.documents import STACK_TRACES, Document, documents
from depyf.links.kernels import computed_by
from depyf.model.index_reader import Run, read_run

EXAMPLES = ("examples/toy_example.py", "examples/training_step.py")
_HANDLE = re.compile(r"\[Provenance debug handles\] (\S+:\d+)")
_NO_CODE = re.compile(
    r"""\s*(?:\#|import\ |from\ |\"{3}|class\ |def\ forward\(|self,$|return\ \($|[()\[\]:{}]+$|$)""", re.VERBOSE
)
_NO_INSTRUCTION = re.compile(
    r"\S.*, line \d+$|\s*$|ExceptionTable:|  (?:L?\d+) to|.* (?:RESUME|NOP|CACHE|COPY_FREE_VARS)\b"
)


def _code_lines(text: Document) -> Iterator[int]:
    nothing = _NO_INSTRUCTION if text.language == "bytecode" else _NO_CODE
    for number, line in enumerate(text.text.splitlines(), start=1):
        if nothing.match(line) is None:
            yield number


def _count(run: Run, lines: Counter[str], linked: Counter[str]) -> None:
    for function, compiled in run.session.compiles():
        for text in documents(run, function, compiled):
            stage = text.key.partition("-")[0]
            numbers = list(_code_lines(text))
            lines[stage] += len(numbers)
            linked[stage] += sum(bool(text.links.of(number)) for number in numbers)


def _agreement(run: Run, text: Document) -> Iterator[bool]:
    """Yield for each call of a kernel in Inductor's module whether it is linked to the lines that its stacks name."""
    stem, number = text.file.removesuffix(".py").rsplit(".kernel_", 1)
    stacks = computed_by(run.text(f"other/{stem}.{STACK_TRACES}.{number}.json"), "") or {}
    for line, row in enumerate(text.text.splitlines(), start=1):
        handle = _HANDLE.search(row)
        origins = stacks[handle[1]].origins({}, run.names, {}) if handle and handle[1] in stacks else frozenset()
        if origins:
            yield text.links.of(line) == origins


def _examples(folder: Path) -> Iterator[Path]:
    for example in EXAMPLES:
        directory = folder / Path(example).stem
        command = [sys.executable, "-m", "depyf", "run", "-o", str(directory), "--no-html", "--log-bytecode", example]
        environment = {"TORCHINDUCTOR_CACHE_DIR": str(folder / "cache"), "TORCHINDUCTOR_COMPILE_THREADS": "1"}
        subprocess.run(command, env={**os.environ, **environment}, check=True, capture_output=True)
        yield directory


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as temporary:
        directories = [Path(argument) for argument in sys.argv[1:]] or list(_examples(Path(temporary)))
        lines: Counter[str] = Counter()
        linked: Counter[str] = Counter()
        agree: list[bool] = []
        for directory in directories:
            run = read_run(directory)
            _count(run, lines, linked)
            for function, compiled in run.session.compiles():
                for text in documents(run, function, compiled):
                    agree += _agreement(run, text) if ".kernel_" in text.file else ()
    for stage, count in lines.items():
        print(f"{stage:42} {linked[stage]:6} of {count:6} lines {100 * linked[stage] / max(count, 1):5.1f} %")
    print(f"calls of kernels linked as Inductor's own stacks say: {sum(agree)} of {len(agree)}")
    sys.exit(not all(agree))


if __name__ == "__main__":
    main()
