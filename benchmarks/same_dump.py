"""Two dumps of one program by two processes are the same files with the same text, but for times.

The processes have other seeds of `hash`, and caches of their own. What is a time: `seconds` in `index.json`; in
`index.md` the column `s`, the total in the second line, and the last section; what torch measures in files of `other/`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.bar import Bar, none_of, report

TRAININGS = (("bert", "aot_eager"), ("gpt2", "eager"), ("gpt2", "inductor"), ("encoder", "inductor"))
_TIMES = (
    (re.compile(r"; \d+\.\d s(, of which \d+\.\d s Inductor)?$", re.MULTILINE), "; N s"),
    (re.compile(r"\| (`\w+`, )?\d+\.\d\d( s)?(?= \|)"), r"| \1N"),
    (re.compile(r"## Seconds per phase\n\n(- .*\n)+"), "## Seconds per phase\n"),
)
"""Where a time stands in `index.md`."""


def _programs(directory: Path) -> None:
    """Run every small program, each with a dump of its own."""
    import depyf
    from benchmarks.dynamo_code import MODULES, load, run

    for module in MODULES:
        for program in load(module):
            with depyf.prepare_debug(directory / program.name):
                run(program, "eager")


def _toy(directory: Path) -> None:
    import torch

    import depyf
    from examples import toy_example

    for backend in ("eager", "aot_eager", "inductor"):
        torch._dynamo.reset()
        with depyf.prepare_debug(directory / backend):
            toy_example.main(backend, 4)


def _trainings(directory: Path) -> None:
    import torch

    import depyf
    from corpus.small_models import TRAININGS as KNOWN
    from corpus.small_models import train

    for name, backend in TRAININGS:
        torch._dynamo.reset()
        with depyf.prepare_debug(directory / f"{name}_{backend}"):
            train(KNOWN[name], backend)


PARTS: dict[str, Callable[[Path], None]] = {"programs": _programs, "toy": _toy, "trainings": _trainings}


def _without_times(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    if path.name == "index.json":
        return json.dumps(json.loads(text, object_hook=_no_seconds))
    if path.name == "index.md":
        for pattern, instead in _TIMES:
            text = pattern.sub(instead, text)
    return text


def _no_seconds(content: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value for key, value in content.items() if key not in ("seconds", "compile_seconds", "began", "process")
    }


def differences(first: Path, other: Path) -> tuple[list[str], int]:
    """Return the files that are not in both directories with the same text, and how many there are."""
    names = sorted({path.relative_to(root).as_posix() for root in (first, other) for path in root.rglob("*.*")})
    wrong = []
    for name in names:
        pair = (first / name, other / name)
        if not all(path.is_file() for path in pair):
            wrong.append(f"{name} is in one alone")
        elif _without_times(pair[0]) != _without_times(pair[1]):
            wrong.append(name)
    return wrong, len(names)


def measure(part: str, keep: Path | None) -> Bar:
    """Dump a part of the programs by two processes, one after the other, and compare."""
    what = f"{part}: files that differ between two dumps"
    with tempfile.TemporaryDirectory() as temporary:
        root = keep or Path(temporary)
        for seed in ("1", "2"):
            environment = os.environ | {
                "PYTHONHASHSEED": seed,
                "TORCHINDUCTOR_COMPILE_THREADS": "1",
                # Torch writes the place of its cache into files; both have the same one, and find it empty.
                "TORCHINDUCTOR_CACHE_DIR": str(root / "cache"),
            }
            shutil.rmtree(root / "cache", ignore_errors=True)
            command = [sys.executable, "-m", "benchmarks.same_dump", "--run", part, str(root / part / seed)]
            done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
            if done.returncode != 0:
                return Bar(what, "no dump", False, done.stderr.splitlines()[-20:])
        wrong, count = differences(root / part / "1", root / part / "2")
    return none_of(what, wrong, str(count))


def main() -> None:
    """Print the bars."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; by default all")
    parser.add_argument("--keep", type=Path, help="write the dumps here")
    parser.add_argument("--run", nargs=2, metavar=("PART", "DIRECTORY"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        PARTS[options.run[0]](Path(options.run[1]))
        return
    report([measure(part, options.keep) for part in options.parts or PARTS])


if __name__ == "__main__":
    main()
