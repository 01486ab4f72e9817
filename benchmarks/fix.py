"""Does `depyf fix` remove what can be removed, and is the edited program the same?

    python -m benchmarks.fix [--programs TEXT] [--random 20] [--command] [--part K/N] [--results FILE]

Each program of `corpus/fix` is copied into a folder and fixed there. Then a judge of its own runs the eager original
against the edited function, eager and compiled, on random inputs that the program never saw. Programs below `near` must
keep their finding, because its edit would change a result.

All runs of a program are forked from one process that has imported torch. With --command, each program is fixed by the
command `depyf fix --apply`, which takes about ten times as long.

With --results, each judged program is a line of FILE, and programs that have a line for this commit are not run again.
With --part K/N, only every N-th program runs, from the K-th.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import importlib.util
import io
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from depyf.fix.processes import Nursery
from depyf.fix.search import Search
from depyf.fix.told import data, patch_of
from depyf.fix.tries import Program, Tries

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / "corpus" / "fix"
_EXPECTED = re.compile(r"^# (gone|left): (.*)$", re.MULTILINE)


@dataclass
class Judged:
    """A program: what remained of what must be gone, which random inputs differ, and whether its file changed."""

    name: str
    remaining: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)
    is_changed: bool = False
    told: dict[str, Any] = field(default_factory=dict)
    error: str = ""


def fixed(program: Path, folder: Path, *options: str) -> tuple[Path, dict[str, Any], str]:
    """Run `depyf fix` on a copy of a program; return the copy, its JSON, and its errors."""
    program_folder = folder / program.stem
    program_folder.mkdir()
    copied = program_folder / program.name
    shutil.copy(program, copied)
    command = [sys.executable, "-W", "ignore", "-m", "depyf", "fix", "--json", *options, program.name]
    done = subprocess.run(command, cwd=program_folder, capture_output=True, text=True, check=False)
    file = program_folder / "fix.json"
    return copied, json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}, done.stderr


class Forked:
    """Fixes programs as the command does, with all their runs forked from one process."""

    def __init__(self) -> None:
        self._nursery = Nursery()

    def __call__(self, program: Path, folder: Path) -> tuple[Path, dict[str, Any], str]:
        """Fix a copy of a program; return the copy, its JSON, and why there is none."""
        if not self._nursery.is_alive:
            self._nursery = Nursery()
        program_folder = folder / program.stem
        for name in ("here", "kept", "run"):
            (program_folder / name).mkdir(parents=True)
        copied = program_folder / "here" / program.name
        shutil.copy(program, copied)
        shutil.copy(program, program_folder / "kept")
        task = Program(
            str(copied.resolve()), (), False, program_folder / "run", 50, False, 120.0, program_folder / "kept"
        )
        tries = Tries(task, program_folder / "tries", nursery=self._nursery, only_forks=True)
        with contextlib.chdir(copied.parent):
            result = Search(tries, 60, 1800.0, "", lambda _: None).search()
            content = data(result, patch_of(result, copied.parent))
        for path, text in result.texts.items():
            Path(path).write_text(text, encoding="utf-8")
        tries.forget()
        return copied, content, result.plain.errors if result.plain.problem else ""

    def end(self) -> None:
        """End the process from which the runs are forked."""
        self._nursery.end()


Fixer = Callable[[Path, Path], tuple[Path, dict[str, Any], str]]


def by_command(program: Path, folder: Path) -> tuple[Path, dict[str, Any], str]:
    """Fix a copy of a program by the command."""
    return fixed(program, folder, "--apply")


def judge(program: Path, folder: Path, count: int, fixer: Fixer) -> Judged:
    """Fix a program and judge the edited one."""
    copied, content, errors = fixer(program, folder)
    judged = Judged(program.stem, told=content)
    if not content:
        judged.error = errors.strip().splitlines()[-1] if errors.strip() else "no fix.json"
        return judged
    expected = dict(_EXPECTED.findall(program.read_text(encoding="utf-8")))
    gone, may_remain = (expected.get(word, "").split() for word in ("gone", "left"))
    left = sorted({finding["kind"] for finding in content["left"]})
    judged.remaining = [kind for kind in left if kind in gone or ("all" in gone and kind not in may_remain)]
    judged.is_changed = copied.read_bytes() != program.read_bytes()
    judged.different = list(different(loaded(program, "before"), loaded(copied, "after"), count))
    return judged


def near(program: Path, folder: Path, fixer: Fixer) -> Judged:
    """Fix a program that must stay as it is: its edit would be wrong."""
    copied, content, errors = fixer(program, folder)
    judged = Judged(program.stem, told=content, error="" if content else errors[-300:])
    left = {finding["kind"] for finding in content.get("left", ())}
    judged.remaining = [kind for kind in _kinds(program) if kind in left]
    judged.is_changed = copied.read_bytes() != program.read_bytes()
    return judged


def loaded(path: Path, name: str) -> ModuleType:
    """Return a program as a module of its own, without running its loop."""
    spec = importlib.util.spec_from_file_location(f"{path.stem}_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # torch imports the module of a class that it traces
    torch.manual_seed(0)  # a program may make its model at its top level
    spec.loader.exec_module(module)
    return module


def different(before: ModuleType, after: ModuleType, count: int) -> list[str]:
    """Return the inputs for which the edited function gives something else, eager or compiled."""
    torch._dynamo.reset()
    functions = []
    for module in (before, after, after):
        torch.manual_seed(0)
        functions.append(module.make())
    functions[2] = torch.compile(functions[2], backend="eager")
    differences = []
    for seed in range(count):
        inputs = before.inputs(torch.Generator().manual_seed(1000 + seed))
        with contextlib.redirect_stdout(io.StringIO()):
            results = [_result(function, copy.deepcopy(inputs)) for function in functions]
        for word, other in zip(("eager", "compiled"), results[1:], strict=True):
            if isinstance(other, Exception) or isinstance(results[0], Exception):
                differences.append(f"input {seed}, {word}: {other!r}, before {results[0]!r}"[:300])
                continue
            try:
                torch.testing.assert_close(other, results[0], equal_nan=True)
            except AssertionError as error:
                differences.append(f"input {seed}, {word}: {str(error).splitlines()[0]}")
    return differences


def _result(function: Any, inputs: Any) -> Any:  # noqa: ANN401 - the programs' own values
    torch.manual_seed(0)
    random.seed(0)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)
    try:
        return function(*inputs)
    except Exception as error:  # noqa: BLE001 - an error is a result that the judge tells
        return error


class Kept:
    """Keeps the judgement of each program in a file, so that a benchmark that was ended can go on.

    file: the file, with a line of JSON for each program and commit; None to keep nothing.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
        self._commit = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
        rows = file.read_text(encoding="utf-8").splitlines() if file is not None and file.exists() else []
        self._known = {row["program"]: row["judged"] for row in map(json.loads, rows) if row["commit"] == self._commit}

    def __call__(self, path: Path, judged: Callable[[], Judged]) -> Judged:
        """Return what the file has for a program, or judge it and add the result to the file."""
        name = str(path.relative_to(CORPUS))
        if name in self._known:
            return Judged(**self._known[name])
        judgement = _shown(judged())
        if self._file is not None:
            row = {"commit": self._commit, "program": name, "judged": asdict(judgement)}
            with self._file.open("a", encoding="utf-8") as out:
                out.write(json.dumps(row) + "\n")
        return judgement


def main() -> int:
    """Print the numbers; the exit code is 1 if a program is not repaired, or a result is another."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--programs",
        default="",
        metavar="TEXT",
        help="only programs with one of these texts in their name, separated by commas",
    )
    parser.add_argument("--random", type=int, default=20, metavar="N", help="random inputs of the judge")
    parser.add_argument("--command", action="store_true", help="fix each program by the command")
    parser.add_argument("--part", default="1/1", metavar="K/N", help="only every N-th program, from the K-th")
    parser.add_argument("--results", type=Path, metavar="FILE", help="keep each result, and go on after those it has")
    options = parser.parse_args()
    forked = None if options.command else Forked()
    fixer = forked or by_command
    kept = Kept(options.results)
    texts = options.programs.split(",")
    part, parts = map(int, options.part.split("/"))
    chosen, nearly = (
        [path for path in sorted(folder.glob("*.py")) if any(text in path.stem for text in texts)][part - 1 :: parts]
        for folder in (CORPUS, CORPUS / "near")
    )
    with tempfile.TemporaryDirectory() as folder:
        judged = [
            kept(path, lambda path=path: judge(path, Path(folder), options.random, fixer))  # type: ignore[misc]
            for path in chosen
        ]
        near_misses = [kept(path, lambda path=path: near(path, Path(folder), fixer)) for path in nearly]  # type: ignore[misc]
    if forked is not None:
        forked.end()
    return _summary(judged, chosen, near_misses)


def _summary(judged: list[Judged], chosen: list[Path], kept: list[Judged]) -> int:
    """Print the numbers and return the exit code.

    Args:
        judged: the programs.
        chosen: their files.
        kept: the near misses.
    """
    whole = [program for program in judged if not program.error and not program.remaining and program.is_changed]
    wrong = [program.name for program in judged if program.different]
    several = [program for program, path in zip(judged, chosen, strict=True) if len(_kinds(path)) > 1]
    print(f"programs with every repairable finding gone: {len(whole)} of {len(judged)}")
    print(f"of these with several causes: {sum(program in whole for program in several)} of {len(several)}")
    print(f"patches that change a result on random inputs: {len(wrong)} of {len(judged)}")
    stay = [program for program in kept if program.remaining]
    print(f"near misses whose finding stays: {len(stay)} of {len(kept)}")
    return int(len(whole) < len(judged) or bool(wrong) or len(stay) < len(kept))


def _kinds(path: Path) -> list[str]:
    expected = _EXPECTED.search(path.read_text(encoding="utf-8"))
    return [] if expected is None else [kind for kind in expected[2].split() if kind != "recompile-limit"]


def _shown(judged: Judged) -> Judged:
    words = judged.error or judged.told.get("effect") or judged.told.get("ended") or "no edit"
    remaining = f"; remains: {', '.join(judged.remaining)}" if judged.remaining else ""
    different = f"; DIFFERS: {judged.different[0]}" if judged.different else ""
    print(f"{judged.name}: {words}{remaining}{different}", flush=True)
    return judged


if __name__ == "__main__":
    sys.exit(main())
