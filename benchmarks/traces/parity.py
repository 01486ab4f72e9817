"""Compares the report of traces with tlparse's: `python -m benchmarks.traces.parity [TRACE...] [--torch PYTHON...]`.

Each compile id and each artefact that tlparse writes must be in depyf's dump: text byte for byte, JSON by its value.
Both run on the committed traces, on the files and folders that are given, and on traces that each PYTHON, of an
environment with torch, makes of the programs of the tests. Needs `pip install tlparse`.
"""

from __future__ import annotations

import argparse
import gzip
import html
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2] / "tests" / "trace"
DATA, PROGRAM = TESTS / "data", TESTS / "programs" / "small.py"
BACKENDS = ("aot_eager", "inductor")
_NUMBERED = re.compile(r"_\d+\.(?:txt|html|json|py|cpp)$")
_COMPILE_ID = re.compile(r"-_(\d+)_(\d+)_(\d+)$|(\d+)_(\d+)_(\d+)_(\d+)$")
OUTSIDE = ("-_-_-_-", "unknown")


@dataclass(slots=True)
class Score:
    """What of tlparse's report is in depyf's, and what is not."""

    ids: Counter[bool] = field(default_factory=Counter)
    artefacts: Counter[bool] = field(default_factory=Counter)
    missing: list[str] = field(default_factory=list)


def main() -> None:
    """Compare all traces, and print what is missing."""
    parser = argparse.ArgumentParser()
    parser.add_argument("traces", nargs="*", type=Path)
    parser.add_argument("--torch", nargs="*", default=[], metavar="PYTHON")
    given = parser.parse_args()
    score = Score()
    for trace in (
        *sorted(DATA.glob("*.log.gz")),
        *(trace_file for path in given.traces for trace_file in _traces(path)),
    ):
        with tempfile.TemporaryDirectory() as folder:
            compare(trace, Path(folder), score)
    for python in given.torch:
        with tempfile.TemporaryDirectory() as folder:
            for trace in made(python, Path(folder)):
                with tempfile.TemporaryDirectory() as compared:
                    compare(trace, Path(compared), score)
    for line in score.missing:
        print("missing:", line)
    for what, counted in (("compile ids", score.ids), ("artefacts", score.artefacts)):
        print(f"{counted[True]} of {counted.total()} {what} of tlparse's are in depyf's report")
    sys.exit(bool(score.missing))


def made(python: str, folder: Path) -> Iterator[Path]:
    """Make traces with the torch of an environment, with each backend; yield them."""
    version = subprocess.run(
        [python, "-W", "ignore", "-c", "import torch; print(torch.__version__)"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    for backend in BACKENDS:
        traces = folder / backend
        caches = {"TORCHINDUCTOR_CACHE_DIR": str(folder / f"cache_{backend}"), "TORCHINDUCTOR_COMPILE_THREADS": "1"}
        subprocess.run(
            [python, "-W", "ignore", str(PROGRAM), backend],
            check=True,
            capture_output=True,
            env=os.environ | caches | {"TORCH_TRACE": str(traces)},
        )
        for trace in sorted(traces.iterdir()):
            print(f"torch {version}, {backend}: {trace.stat().st_size / 1e6:.2f} MB", flush=True)
            yield trace


def _traces(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    for path_below in sorted(path.rglob("*")) if path.is_dir() else ():
        if path_below.name.endswith((".log", "log.txt")):
            yield path_below


def compare(trace: Path, folder: Path, score: Score) -> None:
    """Run both on one trace."""
    plain = folder / "trace.log"
    raw = trace.read_bytes()
    plain.write_bytes(gzip.decompress(raw) if trace.suffix == ".gz" else raw)
    theirs, ours = folder / "tlparse", folder / "depyf"
    subprocess.run(
        ["tlparse", str(plain), "-o", str(theirs), "--overwrite", "--no-browser", "--plain-text"],
        check=True,
        capture_output=True,
    )
    subprocess.run(
        [sys.executable, "-m", "depyf", "report", str(plain), "-o", str(ours)], check=True, capture_output=True
    )
    index = json.loads((ours / "index.json").read_text())
    files = [file for file in ours.rglob("*") if file.is_file() and "report" not in file.relative_to(ours).parts]
    texts = [file.read_text(errors="replace") for file in files]
    whole = {text.removesuffix("\n") for text in texts}
    values = [_value(text) for text in texts]
    directory = json.loads((theirs / "compile_directory.json").read_text())
    for written, entry in directory.items():
        compile_id = written.strip("[]")
        if compile_id != "-/-":
            _count(score.ids, _own_id(compile_id) in set(index["order"]), score, f"{trace.name}: compile {compile_id}")
        for artefact in entry["artifacts"]:
            url = artefact["url"]
            path = theirs / url
            if not path.is_file():
                continue
            is_there = _is_there(path, texts, whole, values, index)
            _count(score.artefacts, is_there, score, f"{trace.name}: {url}")


def _own_id(compile_id: str) -> str:
    """Return the id as depyf writes it: without the attempt, which tlparse puts behind some."""
    return re.sub(r"_\d+$", "", compile_id)


def _count(counted: Counter[bool], is_there: bool, score: Score, what: str) -> None:
    counted[is_there] += 1
    if not is_there:
        score.missing.append(what)


def _is_there(path: Path, texts: list[str], whole: set[str], values: list[object], index: dict[str, object]) -> bool:
    text = path.read_text(errors="replace")
    if path.suffix == ".json":
        return _value(text) in values
    if path.name.startswith(("compilation_metrics", "bwd_compilation_metrics")):
        return path.name.split("_metrics")[0] + "_metrics" in json.dumps(index)
    if path.suffix == ".html":
        shown = re.sub(r"<script>.*?</script>|<style>.*?</style>|<h2>.*?</h2>", "", text, flags=re.DOTALL)
        lines = [html.unescape(re.sub(r"<[^>]*>", "", line)).strip() for line in shown.splitlines()]
        return all(any(line in text_of_file for text_of_file in texts) for line in lines if line)
    content = text.removesuffix("\n")
    return content in whole or any(content.strip("\n") in written for written in texts)


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


if __name__ == "__main__":
    main()
