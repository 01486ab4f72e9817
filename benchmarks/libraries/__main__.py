"""Libraries that call `torch.compile`, with a context of depyf and without: the same results, and whole stories.

    python -m benchmarks.libraries [--environments FOLDER] [LIBRARY ...]

The libraries are installed, with the torch of this interpreter, into environments that stay: one for vLLM, and one for
all others. What cannot be installed is printed with the reason. Each library runs plain and in a context. Compared are
results bit by bit, warnings with their places, stdout, stderr and the exit code. The dump must have a name, code and
guards for each compile that Dynamo made code for, and nothing outside of any compiled frame.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from benchmarks.bar import Bar, none_of, report
from benchmarks.unnoticed import differences
from benchmarks.ways import UNTOLD, row
from corpus.features import QUICK_KERNELS
from corpus.libraries import LIBRARIES

ROOT = Path(__file__).resolve().parents[2]
_TIMES = re.compile(r"\b[A-Z]?\d{4} \d\d:\d\d:\d\d\.\d+ \d+|\d+\.\d+(?=['\"s ])|0x[0-9a-f]+")


def environment(name: str, folder: Path) -> Path | str:
    """Return the interpreter of an environment that has a library, made where it is not there; else why it has none."""
    library = LIBRARIES[name]
    environment_folder = folder / library.environment
    python, done = environment_folder / "bin" / "python", environment_folder / f"installed-{name}"
    if done.exists():
        return python
    release, constraints = f"torch=={torch.__version__.partition('+')[0]}", environment_folder / "constraints.txt"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(environment_folder)], check=True)
        constraints.write_text(f"{release}\n")
    for packages in (f"{release} setuptools numpy", *library.installs):
        command = [str(python), "-m", "pip", "install", "-q", "-c", str(constraints), *packages.split()]
        installation = subprocess.run(command, capture_output=True, text=True)
        if installation.returncode:
            return installation.stderr.strip().splitlines()[-1]
    done.touch()
    return python


def run(name: str, python: Path, scratch: Path, directory: str) -> dict[str, Any]:
    """Run the program of a library; return what could be seen of it."""
    result = scratch / "result.json"
    result.unlink(missing_ok=True)
    paths = f"{ROOT / 'src'}{os.pathsep}{ROOT}"
    more = {"PYTHONPATH": paths, "PYTHONHASHSEED": "0", "DEPYF_SUMMARY": "0"}
    with tempfile.TemporaryDirectory() as cache:
        more |= {"TORCHINDUCTOR_CACHE_DIR": cache, "VLLM_CACHE_ROOT": cache, "HF_HUB_OFFLINE": "1"}
        command = [str(python), "-m", "benchmarks.libraries.run", name, str(result), directory]
        done = subprocess.run(
            command, env={**os.environ, **QUICK_KERNELS, **more}, capture_output=True, text=True, cwd=scratch
        )
    streams = {stream: _TIMES.sub("", getattr(done, stream)) for stream in ("stdout", "stderr")}
    value = json.loads(result.read_text(encoding="utf-8")) if result.exists() else {}
    return {"exit code": done.returncode, **streams, **value}


def lacking(name: str, directory: Path) -> Iterator[str]:
    """Yield what the story of a run lacks."""
    index = json.loads((directory / "index.json").read_text(encoding="utf-8"))
    functions = [function for root in index["functions"] for function in (root, *root["resume_functions"])]
    rows = [row(function, compiled) for function in functions for compiled in function["compiles"]]
    proven = sum(compile_row["code"] in ("EXACT", "EQUIVALENT") for compile_row in rows)
    print(f"    {len(rows)} compiles, {proven} proven, {sum(compile_row['graphs'] for compile_row in rows)} graphs")
    if not proven:
        yield "code that is proven"
    for compile_row in rows:
        what = f"{compile_row['id']} {compile_row['name']}"
        if compile_row["name"] in ("", "?"):
            yield f"{what}: a name"
        yield from (f"{what}: {part}" for part in ("code", "guards") if compile_row[part] in UNTOLD)
        if compile_row["code"] == "UNPROVEN":
            yield f"{what}: a proof"
    yield from (f"a compile of {artefact['file']}" for artefact in index["outside"])
    yield from (f"no problem: {problem['message']}" for problem in index["problems"])
    names = [path.name for path in directory.iterdir()]
    yield from (f"a file {part}" for part in LIBRARIES[name].files if not any(part in file_name for file_name in names))


def measure(name: str, python: Path) -> tuple[list[str], list[str]]:
    """Run a library both ways; return where the runs differ, and what the story lacks."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        plain = run(name, python, scratch, "")
        seen = run(name, python, scratch, str(scratch / "dump"))
        if plain["exit code"]:
            return [f"{name} fails without depyf: {plain['stderr'].strip().splitlines()[-1]}"], []
        different = [f"{name}{difference}" for difference in differences({name: plain}, {name: seen})]
        loose = {difference.partition(":")[0] for difference in different}
        if different:
            again = run(name, python, scratch, "")
            loose = {
                f"{name}{difference}".partition(":")[0] for difference in differences({name: plain}, {name: again})
            }
            print(*(f"    plain runs differ, too: {place}" for place in sorted(loose)), sep="\n")
            different = [difference for difference in different if difference.partition(":")[0] not in loose]
        return different, [f"{name}, {part}" for part in lacking(name, scratch / "dump")]


def main() -> None:
    """Print what each library gave, and the bars."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    folder = Path(tempfile.gettempdir()) / "depyf-libraries"
    parser.add_argument("--environments", type=Path, default=folder, help=f"where they are made (default {folder})")
    parser.add_argument("libraries", nargs="*", help="names of functions in corpus/libraries.py")
    arguments = parser.parse_args()
    arguments.environments.mkdir(parents=True, exist_ok=True)
    differing, missing, absent = list[str](), list[str](), list[str]()
    for name in arguments.libraries or LIBRARIES:
        python = environment(name, arguments.environments)
        if isinstance(python, str):
            absent.append(name)
            print(f"{name} cannot be installed: {python}", flush=True)
            continue
        print(name, flush=True)
        other, parts = measure(name, python)
        differing, missing = differing + other, missing + parts
    number = f"{len(arguments.libraries or LIBRARIES) - len(absent)} libraries"
    report(
        [
            none_of("places in which a run with a context differs", differing, number),
            none_of("parts of stories that are missing", missing, number),
            Bar("libraries that could not be installed", ", ".join(absent) or "none", True),
        ]
    )


if __name__ == "__main__":
    main()
