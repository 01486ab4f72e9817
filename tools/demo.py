"""`make demo`: run the toy example under `prepare_debug`, and show what the compiler made of it.

    python tools/demo.py [--backend inductor] [--out depyf_output]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

# Two kernels are compiled faster than a pool of workers starts.
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
# A graph that comes from a cache comes without the passes that made it, and all of them are to be seen.
os.environ.setdefault("TORCHINDUCTOR_FX_GRAPH_CACHE", "0")
os.environ.setdefault("TORCHINDUCTOR_AUTOGRAD_CACHE", "0")

CALLS = 100

_GRAPH_FILE = re.compile(r"(__compiled_fn_\d+)\.(.+)\.py")


def main() -> None:
    """Run the example and print the three things to look at."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="inductor")
    parser.add_argument("--out", type=Path, default=Path("depyf_output"), help="made anew")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.out, ignore_errors=True)
    _run(arguments.backend, arguments.out)
    index = json.loads((arguments.out / "index.json").read_text(encoding="utf-8"))
    print(f"\n{arguments.out}/")
    print("\n".join(f"  {line}" for line in tree(arguments.out)))
    for name in transformed_files(index):
        print(f"\n{name}\n")
        print("\n".join(f"  {line}" for line in (arguments.out / name).read_text("utf-8").splitlines()))
    print("\ncompiles\n")
    print("\n".join(f"  {line}" for line in compile_lines(index)))


def _run(backend: str, out: Path) -> None:
    import depyf
    from examples import toy_example

    print(f"examples/toy_example.py: {CALLS} calls with random inputs, backend {backend}", flush=True)
    with depyf.prepare_debug(out):
        toy_example.main(backend, CALLS)


def tree(directory: Path) -> list[str]:
    """Return the files of a dump, those of one graph on one line and those of a subdirectory counted."""
    lines = []
    graphs: dict[str, list[str]] = {}
    for path in sorted(directory.iterdir(), key=lambda path: (path.name.startswith("_"), path.name)):
        graph = _GRAPH_FILE.fullmatch(path.name)
        if graph is not None:
            graphs.setdefault(graph[1], []).append(graph[2])
        elif path.is_dir():
            lines.append(f"{path.name}/  {sum(1 for _ in path.iterdir())} files")
        else:
            lines.append(path.name)
    for name, stages in graphs.items():
        head = f"{name}.*.py  "
        lines += textwrap.wrap(", ".join(stages), 100, initial_indent=head, subsequent_indent=" " * len(head))
    return lines


def _functions(index: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every function with the words for it: its name, or where of a function it goes on."""
    for root in index["functions"]:
        yield root["name"], root
        for resume in root["resume_functions"]:
            yield f"{root['name']}, from line {resume['resumes_at']}", resume


def transformed_files(index: dict[str, Any]) -> list[str]:
    """Return the files of all transformed code, in the order of the compiles."""
    made = {one["id"]: one["transformed"] for _, function in _functions(index) for one in function["compiles"]}
    return [made[compile_id]["file"] for compile_id in index["order"] if "file" in made[compile_id]]


def compile_lines(index: dict[str, Any]) -> list[str]:
    """Return a line per compile, in order: what triggered it, which guard failed on a recompile, the level of proof."""
    rows = {}
    for name, function in _functions(index):
        for one in function["compiles"]:
            level = one["transformed"].get("level") or f"no code: {one['transformed'].get('unavailable')}"
            rows[one["id"]] = (one["id"], name, trigger_words(one["trigger"]), level)
    ordered = [rows[compile_id] for compile_id in index["order"]]
    widths = [max(len(row[column]) for row in ordered) for column in range(3)]
    return [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]) for row in ordered
    ]


def trigger_words(trigger: dict[str, Any]) -> str:
    """Return why something was compiled, as `index.json` tells it."""
    match trigger:
        case {"kind": "recompile", "refused": refused}:
            guards = [f"{entry['entry']} refused: {'; '.join(entry['clauses'])}" for entry in refused]
            return f"recompile, {', '.join(guards)}"
        case {"kind": "resume", "caller": caller}:
            return f"{caller} broke the graph"
    return str(trigger["kind"])


if __name__ == "__main__":
    main()
