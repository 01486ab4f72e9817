"""The files that `depyf run` writes by default for a training run of GPT-2: their number, their bytes, and the links.

    python -m benchmarks.dump_files [--dump DIRECTORY]

It runs `corpus/training/gpt2.py` with cold caches of Inductor, which takes minutes. With `--dump` it measures an
existing dump of that run instead. A link counts as missing if `index.md`, the report or `index.json` names a file that
is neither in the directory nor in the archive. Exit code 1 if a bar is not met.
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

from benchmarks.bar import Bar, none_of, report
from depyf.model.archive import archived
from depyf.views.html.chunks import read_script

PROGRAM = Path(__file__).resolve().parent.parent / "corpus" / "training" / "gpt2.py"
MOST_FILES = 120
MOST_BYTES = 4_000_000
_LINK = re.compile(r"\]\(([^)#]+)\)")


def written_dump(directory: Path) -> Path:
    """Run the program under `depyf run` with cold caches; return the dump."""
    dump = directory / "dump"
    environment = {
        **os.environ,
        "TORCHINDUCTOR_CACHE_DIR": str(directory / "cache"),
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
    }
    command = [sys.executable, "-m", "depyf", "run", "-o", str(dump), str(PROGRAM)]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return dump


def missing_files(dump: Path) -> tuple[list[str], int]:
    """Return the files that the index or the report names and that do not exist, and the number of names."""
    packed = archived(dump)
    named = {*_named_by_index(dump), *_named_by_report(dump)}
    return sorted(name for name in named if not (dump / name).is_file() and name not in packed), len(named)


def _named_by_index(dump: Path) -> Iterator[str]:
    yield from _LINK.findall((dump / "index.md").read_text(encoding="utf-8"))
    index: dict[str, Any] = json.loads((dump / "index.json").read_text(encoding="utf-8"))
    yield from index["packed"]
    yield from (source["dump"] for source in index["sources"])
    yield from (artefact["file"] for artefact in index["outside"])
    for root in index["functions"]:
        yield from [root["dump"]] if root["dump"] else []
        for compiled in (
            compiled for function in (root, *root["resume_functions"]) for compiled in function["compiles"]
        ):
            yield from (artefact["file"] for artefact in compiled["artefacts"] if artefact["file"])
            yield from [compiled["transformed"]["file"]] if compiled["transformed"].get("file") else []


def _named_by_report(dump: Path) -> Iterator[str]:
    for script in (dump / "report" / "data").glob("*.js"):
        content = read_script(script.read_text(encoding="utf-8"))
        for entry in content.get("entries", ()):
            for document in entry["docs"]:
                yield from [document["file"]] if document["file"] else []
                yield from [f"report/data/{document['chunk']}.js"] if "chunk" in document else []


def measured(dump: Path) -> list[Bar]:
    """Return the bars of a dump."""
    files = [path for path in dump.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    packed = archived(dump)
    unpacked = sum(len(text.encode()) for text in packed.values())
    missing, named = missing_files(dump)
    what = "by default, for a training run of GPT-2"
    note = f"{len(packed)} more of {unpacked / 1e6:.1f} MB in the archive"
    return [
        Bar(f"files {what}", str(len(files)), len(files) <= MOST_FILES, note=note),
        Bar(f"size {what}", f"{size / 1e6:.2f} MB", size <= MOST_BYTES),
        none_of("files that the index or the report names and that do not exist", missing, f"{named} names"),
    ]


def main() -> None:
    """Print the bars."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dump", type=Path)
    arguments = parser.parse_args()
    if arguments.dump is not None:
        report(measured(arguments.dump))
    with tempfile.TemporaryDirectory() as temporary:
        report(measured(written_dump(Path(temporary))))


if __name__ == "__main__":
    main()
