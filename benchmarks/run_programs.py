"""`depyf run` beside `python`: the same output, exit code and files, and a report of all that was compiled.

    python -m benchmarks.run_programs [--only NAME]

Each program runs twice in a copy of its folder at the same place, so that even paths in tracebacks are the same. What
they write to stderr is compared without depyf's own lines and torch's log lines, which have times in them. Exit code 1
if any program does something else under `depyf run`, or leaves a report that lacks something.
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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from depyf.model.archive import archived

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = (ROOT / "corpus" / "launched", ROOT / "examples")
OUT = "depyf_output"
SECONDS = 500


@dataclass(frozen=True)
class Program:
    """A program and how it is run.

    compiles: how many compiles the report has to tell of at least; processes: in how many processes.
    unfinished: how many of them end before they can tell all.
    """

    name: str
    target: tuple[str, ...]
    text: str = ""
    compiles: int = 2
    processes: int = 1
    unfinished: int = 0


def _script(
    name: str, *arguments: str, text: str = "", compiles: int = 2, processes: int = 1, unfinished: int = 0
) -> Program:
    target = (f"{name}.py", *arguments)
    return Program(" ".join((name, *arguments)), target, text, compiles, processes, unfinished)


_TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")

PROGRAMS = (
    _script("arguments", "--size", "4", "-m", "-o", "there", "rest"),
    Program("-m as_module", ("-m", "as_module", "-o", "there")),
    Program("script from stdin", ("-", "an argument"), (FOLDERS[0] / "exits.py").read_text(encoding="utf-8")),
    _script("asked", text="3\n2\nand the rest\nof it\n", compiles=3),
    _script("asyncio_tasks"),
    _script("at_exit"),
    _script("changes_directory"),
    _script("crashes"),
    _script("crashes_hard", unfinished=1),
    _script("data_workers", processes=3),
    _script("exits"),
    _script("exits_at_once", unfinished=1),
    _script("forks", compiles=4, processes=3, unfinished=1),
    _script("handles_signals", unfinished=1),
    _script("interrupted"),
    _script("interrupted_in_a_console"),
    _script("killed", unfinished=1),
    _script("looks_at_itself"),
    Program("torchrun ranks", (*_TORCHRUN, "ranks.py"), processes=2),
    _script("runs_a_script", compiles=4, processes=2),
    _script("spawns", compiles=6, processes=3, unfinished=1),
    _script("threads"),
    _script("to_stderr"),
    _script("warns"),
    _script("torch_cases", "eager", compiles=30),
    _script("torch_cases", "aot_eager", compiles=30),
    _script("toy_example", "inductor"),
    _script("training_step", "inductor", compiles=5),
)


@dataclass(slots=True)
class Ran:
    """What a run of a program did."""

    code: int
    stdout: str
    stderr: str
    files: dict[str, bytes]


@dataclass(slots=True)
class Compared:
    """Where the two runs of a program differ, and what its report has."""

    program: Program
    code: int
    compiles: int = 0
    processes: int = 0
    differences: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def compared(program: Program, folder: Path) -> Compared:
    """Run a program both ways in `folder`, which is made for each run and taken away again."""
    plain = _run([sys.executable, *program.target], program, folder)
    start = "from depyf.cli.entry import main; main()"
    captured = _run([sys.executable, "-c", start, "run", "-o", OUT, *program.target], program, folder)
    comparison = Compared(program, plain.code)
    for what in ("code", "stdout", "stderr", "files"):
        if getattr(plain, what) != getattr(captured, what):
            comparison.differences.append(f"{what}: {getattr(plain, what)!r} became {getattr(captured, what)!r}")
    _look_at_report(comparison, folder / OUT)
    return comparison


def _run(command: list[str], program: Program, folder: Path) -> Ran:
    shutil.rmtree(folder, ignore_errors=True)
    for folder_of_files in FOLDERS:
        shutil.copytree(folder_of_files, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    before = set(_files(folder))
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TORCHINDUCTOR_CACHE_DIR": str(folder.with_name("inductor")),
    }
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        input=program.text,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    files = {name: (folder / name).read_bytes() for name in _files(folder) if name not in before}
    return Ran(done.returncode, done.stdout, _told(done.stderr), files)


def _files(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not name.startswith(OUT):
            yield name


def _told(stderr: str) -> str:
    """Return what a program itself wrote to stderr."""
    lines = [line for line in stderr.splitlines() if not re.match(r"depyf: |(\[rank\d\]:)?\[?[IWE]\d{4} ", line)]
    return re.sub(r"0x[0-9a-f]+", "0x", "\n".join(lines))


def _look_at_report(comparison: Compared, directory: Path) -> None:
    """Count what the report tells of, and note what it lacks."""
    page = directory / "report" / "index.html"
    if not page.is_file():
        comparison.missing.append("there is no report")
        return
    match = re.search(r'<script[^>]*id="directory"[^>]*>(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)
    shown = json.loads(match[1]) if match else []
    indexes = sorted(directory.rglob("index.json"))
    comparison.processes = len(indexes)
    unfinished = 0
    for path, process in zip(sorted(indexes, key=_order), shown, strict=False):
        index = json.loads(path.read_text(encoding="utf-8"))
        unfinished += not index["ended"]
        comparison.compiles += len(index["order"])
        comparison.missing += _missing(index, process, path.parent, directory / "report" / "data")
    for what, least in (("compiles", comparison.program.compiles), ("processes", comparison.program.processes)):
        if getattr(comparison, what) < least:
            comparison.missing.append(f"{getattr(comparison, what)} {what}, there should be {least}")
    if (len(shown), unfinished) != (len(indexes), comparison.program.unfinished):
        comparison.missing.append(f"{len(shown)} of {len(indexes)} processes shown, {unfinished} unfinished")


def _order(path: Path) -> tuple[str, int]:
    """Return the order in which the report shows the processes."""
    kind, _, number = path.parent.name.rpartition("_")
    return (kind, int(number)) if number.isdigit() else ("", 0)


def _missing(index: dict[str, Any], process: dict[str, Any], folder: Path, data: Path) -> Iterator[str]:
    """Say what of an index is not there, or not in the report."""
    yield from (f"an error inside depyf: {problem}" for problem in index["problems"])
    indexed, shown = index["functions"], process["functions"]
    packed = archived(folder)
    if len(shown) < len(indexed) or not all(_is_named(*pair) for pair in zip(indexed, shown, strict=False)):
        yield f"{process['label']} shows {shown}, not {[function['name'] for function in indexed]}"
    for function in process["functions"]:
        if not (data / f"{function['page']}.js").is_file():
            yield f"no page of {function['name']}"
    for root in index["functions"]:
        for function in (root, *root["resume_functions"]):
            for compiled in function["compiles"]:
                files = [compiled["transformed"].get("file"), *(artefact["file"] for artefact in compiled["artefacts"])]
                yield from (f"no file {name}" for name in files if name and not _is_there(name, folder, packed))


def _is_there(name: str, folder: Path, packed: Mapping[str, str]) -> bool:
    """Return whether a file is in the folder, or in the archive of a large dump."""
    return name in packed or (folder / name).is_file()


def _is_named(function: dict[str, Any], shown: dict[str, Any]) -> bool:
    """Return whether a function is shown under its name.

    A method has its class, a function of torch's the name of what it calls, and that of a decorator the name of what it
    wraps, which is its qualified name in the index.
    """
    is_of_torch = function["file"].startswith("torch/")
    return is_of_torch or function["name"] == shown["name"].rpartition(".")[2] or shown["name"] == function["qualname"]


def _row(comparison: Compared) -> str:
    problems = [*comparison.differences, *comparison.missing]
    said = "same output, exit code and files; report complete" if not problems else "; ".join(problems)[:1000]
    return f"{comparison.program.name:42} {comparison.code:4} {comparison.processes:4} {comparison.compiles:5}  {said}"


def main() -> None:
    """Print a line for each program."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="programs with this in their names")
    arguments = parser.parse_args()
    chosen = [program for program in PROGRAMS if arguments.only in program.name]
    print(f"{'program':42} exit  in  compiles")
    bad = 0
    with tempfile.TemporaryDirectory() as temporary:
        for program in chosen:
            comparison = compared(program, Path(temporary) / "work")
            print(_row(comparison), flush=True)
            bad += bool(comparison.differences or comparison.missing)
    print(f"{len(chosen) - bad} of {len(chosen)} programs do under `depyf run` what they do under `python`")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
