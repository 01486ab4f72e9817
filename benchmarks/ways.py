"""Every way to a compile has a whole story: name, place, code, guards, calls, graphs, kernels, times.

    python -m benchmarks.ways [--python PYTHON] [WAY ...]

Each way of `corpus/features/ways.py` runs in a process of its own, inside of `prepare_debug`. Printed is a row for
each compile, read from `index.json`. Where the program has no call behind a compile, or keeps what it compiled, torch
does not say when it runs; where Dynamo made no code, the index has to say why.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import depyf
from benchmarks.bar import Bar, none_of, report
from corpus.features import QUICK_KERNELS, NotHere, load

UNTOLD = ("Dynamo made no code", "no entry was found")
"""What the index says where nothing was seen, which is no reason."""
EXPORT = "asked for by export"
"""What makes a graph and no kernels."""


def run_way(name: str, directory: str) -> None:
    """Run a way inside of a context."""
    try:
        with depyf.prepare_debug(directory):
            load()[name]()
    except NotHere as error:
        print(f"not in this torch: {error}")


def row(function: dict[str, Any], compiled: dict[str, Any]) -> dict[str, Any]:
    """Return what the index tells of a compile, in a few words each."""
    kinds = [artefact["kind"] for artefact in compiled["artefacts"]]
    guards, code = compiled["guards"], compiled["transformed"]
    return {
        "id": compiled["id"],
        "name": function["name"],
        "place": place(function, compiled),
        "why": compiled["trigger"].get("how", compiled["trigger"]["kind"]),
        "code": code.get("level") or code["unavailable"],
        "guards": guards["unavailable"] if isinstance(guards, dict) else len(guards),
        "calls": compiled["hits"],
        "graphs": kinds.count("graph"),
        "kernels": kinds.count("kernel") + kinds.count("c++"),
        "seconds": compiled["seconds"].get("total", 0.0),
    }


def place(function: dict[str, Any], compiled: dict[str, Any]) -> str:
    """Return where a reader finds a function: generated code stands in no file, but a line of the program led to it."""
    here = [{"file": function["file"], "line": function["line"]}]
    if function["file"].startswith("<"):
        here = [caller for caller in compiled["called_from"] if not caller["file"].startswith(("<", "torch/"))] or here
    return f"{Path(here[-1]['file']).name}:{here[-1]['line']}"


def missing(story: dict[str, Any]) -> Iterator[str]:
    """Yield what the story of a compile lacks."""
    has_call = story["why"] in ("first call", "recompile", "resume", "loaded from a package")
    if story["name"] in ("", "?"):
        yield "name"
    if not story["place"].startswith("ways.py:"):
        yield "place"
    yield from (part for part in ("code", "guards") if story[part] in UNTOLD)
    if has_call and story["calls"] is None and story["code"] != "UNPROVEN":
        yield "calls"
    if not story["graphs"]:
        yield "graphs"
    if not story["kernels"] and story["why"] != EXPORT:
        yield "kernels"
    if not story["seconds"]:
        yield "times"


def measure(way: str, python: str) -> tuple[list[str], int]:
    """Print a row for each compile of a way; return what is missing, and how many records are of no compile."""
    with tempfile.TemporaryDirectory() as directory:
        command = [python, "-m", "benchmarks.ways", "--run", way, directory]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **QUICK_KERNELS})
        if done.stdout:
            print(f"{way.removeprefix('ways.')}: {done.stdout.strip()}", flush=True)
            return [], 0
        if done.returncode:
            return [f"{way}: {done.stderr.strip().splitlines()[-1]}"], 0
        index = json.loads((Path(directory) / "index.json").read_text(encoding="utf-8"))
    lacking: list[str] = []
    functions = [function for root in index["functions"] for function in (root, *root["resume_functions"])]
    rows = [row(function, compiled) for function in functions for compiled in function["compiles"]]
    print(way.removeprefix("ways."), flush=True)
    for story in rows:
        parts = list(missing(story))
        lacking += [f"{way}, {story['id']}: {part}" for part in parts]
        words = "  ".join(f"{key} {value}" for key, value in story.items() if key not in ("id", "name", "place"))
        print(f"    {story['id']} {story['name']}, {story['place']}  {words}  missing: {', '.join(parts) or 'nothing'}")
    return lacking if rows else [f"{way}: no compile is told"], len(index["outside"])


def main() -> None:
    """Print a row for each compile, and the bars."""
    if sys.argv[1:2] == ["--run"]:
        run_way(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="the interpreter, with torch and depyf")
    parser.add_argument("ways", nargs="*", help="names of functions in corpus/features/ways.py")
    arguments = parser.parse_args()
    names = [f"ways.{name}" for name in arguments.ways] or [name for name in load() if name.startswith("ways.")]
    lacking, outside = list[str](), 0
    for name in names:
        parts, loose = measure(name, arguments.python)
        lacking, outside = lacking + parts, outside + loose
    report(
        [
            none_of("parts of stories that are missing", lacking, f"{len(names)} ways to a compile"),
            Bar("records outside of any compiled frame", str(outside), outside == 0),
        ]
    )


if __name__ == "__main__":
    main()
