"""Runs of public programs under depyf, compared with torch's own log of the same run.

    python -m benchmarks.public_runs            # all whose packages are installed
    python -m benchmarks.public_runs NAME...    # some

Each program runs under `depyf run` with `TORCH_LOGS=recompiles,graph_breaks`. Every recompile of the log belongs to
exactly one finding, every graph break to one, and the line of each finding is in torch's log or in torch's stack of the
compile. A recompile for a value that a graph break leaves on the stack belongs to the finding of that break.
"""

from __future__ import annotations

import argparse
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
from typing import Any

from benchmarks.bar import Bar, none_of, report

PROGRAMS = Path(__file__).parents[1] / "corpus" / "public_runs"
LONGEST_SECONDS = 600
_RECORD = re.compile(r"\[(?P<id>\d+/\d+)(?:_\d+)?\] \[__(?P<log>recompiles|graph_breaks)\](?P<text>.*)")
_PLACE = re.compile(r'(?:File "|# |at )(?P<file>[^\s"#]+\.py)(?:", line |:)(?P<line>\d+)')
_BROKEN = "Graph break in user code at "
_AGAIN = "Recompiling function "
_CARRIED = re.compile(r"- \d+/\d+: (?:tensor ')?___stack|'___stack")
_FAILED = re.compile(r"- \d+/\d+: ")
_BREAKS = ("break-", "graph-break", "failure")


@dataclass
class Logged:
    """What torch's log says of one compile.

    again: whether it is a recompile.
    is_carried: whether each of its guard failures is about a value on the stack.
    broken: the places of its graph breaks.
    places: all places in its records, each as the name of the file and the line.
    """

    again: bool = False
    is_carried: bool = True
    broken: set[tuple[str, int]] = field(default_factory=set)
    places: set[tuple[str, int]] = field(default_factory=set)


def logged(text: str) -> dict[str, Logged]:
    """Return torch's log of recompiles and graph breaks, by compile id."""
    compiles: dict[str, Logged] = {}
    for record in _RECORD.finditer(text):
        compiled = compiles.setdefault(record["id"], Logged())
        places = {(os.path.basename(place["file"]), int(place["line"])) for place in _PLACE.finditer(record["text"])}
        compiled.places |= places
        if record["log"] == "graph_breaks":
            compiled.broken |= places if _BROKEN in record["text"] else set()
        elif _AGAIN in record["text"]:
            compiled.again = True
        elif _FAILED.search(record["text"]) and not _CARRIED.search(record["text"]):
            compiled.is_carried = False
    return compiles


def _compiles(index: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - JSON
    """Yield the compiles of an index, those of resume functions too."""
    pending = list(index["functions"])
    while pending:
        function = pending.pop()
        yield from function["compiles"]
        pending += function.get("resume_functions", ())


def differences(log: dict[str, Logged], index: Any) -> list[str]:  # noqa: ANN401 - JSON
    """Return in what an index differs from torch's log of the same run.

    Args:
        log: torch's log, by compile id.
        index: the index of the dump.

    Returns:
        A sentence for each difference.
    """
    compiles = {compiled["id"]: compiled for compiled in _compiles(index)}
    again = {name for name, compiled in compiles.items() if (compiled["trigger"] or {}).get("kind") == "recompile"}
    of_recompiles = [finding for finding in index["findings"] if not finding["kind"].startswith(_BREAKS)]
    of_breaks = [finding for finding in index["findings"] if finding["kind"].startswith(_BREAKS)]
    counts = Counter(name for finding in of_recompiles for name in finding["compiles"])
    in_breaks = {name for finding in of_breaks for name in finding["compiles"]}
    wrong = [
        f"{name}: torch recompiled, the index has none"
        for name, logged_compile in log.items()
        if logged_compile.again - (name in again)
    ]
    wrong += [f"{name}: a recompile that torch's log has not" for name in again if name not in log]
    for name, logged_compile in log.items():
        if logged_compile.again and counts[name] != 1 and not (logged_compile.is_carried and counts[name] == 0):
            wrong.append(f"{name}: in {counts[name]} findings about recompiles")
        if logged_compile.broken and name not in in_breaks:
            wrong.append(f"{name}: no finding about the graph break at {sorted(logged_compile.broken)}")
    for finding in of_recompiles:
        if finding["compiles"] and finding["where"] and not _is_known(finding, compiles, log):
            wrong.append(f"{finding['kind']}: {finding['where']} is in no stack of {finding['compiles']}")
    return wrong


def _is_known(finding: Any, compiles: dict[str, dict[str, Any]], log: dict[str, Logged]) -> bool:  # noqa: ANN401
    """Return whether the line of a finding is in torch's log, in a stack of its compiles, or read by one of them."""
    where = os.path.basename(finding["where"]["file"]), finding["where"]["line"]
    places: set[tuple[str, int]] = set()
    for name in finding["compiles"]:
        places |= log[name].places if name in log else set()
        compiled = compiles.get(name, {})
        for line in compiled.get("called_from", ()):
            places.add((os.path.basename(line["file"]), line["line"]))
        for part in compiled.get("lines", ()):
            places |= {(os.path.basename(part["file"]), line) for line in (part["line"], *part["lines"], *part["read"])}
    return where in places


def measured(name: str) -> tuple[dict[str, Logged], list[str]] | None:
    """Run a program, and return torch's log and the differences; None if a package that it imports is missing."""
    program = PROGRAMS / f"{name}.py"
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-W", "ignore", "-m", "depyf", "run", "--no-html", "-o", scratch, str(program)]
        environment = os.environ | {"TORCH_LOGS": "recompiles,graph_breaks", "HF_HUB_OFFLINE": "1"}
        run = subprocess.run(
            command, capture_output=True, text=True, env=environment, timeout=LONGEST_SECONDS, check=False
        )
        if "ModuleNotFoundError" in run.stderr:
            return None
        index = Path(scratch) / "index.json"
        if run.returncode or not index.exists():
            return {}, [f"exit code {run.returncode}: {run.stderr[-300:]}"]
        log = logged(run.stderr)
        return log, differences(log, json.loads(index.read_text()))


def main() -> None:
    """Print what differs for each program, and the bars."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.public_runs")
    parser.add_argument("names", nargs="*")
    names = parser.parse_args().names or sorted(path.stem for path in PROGRAMS.glob("*.py"))
    wrong: list[str] = []
    ran: list[str] = []
    for name in names:
        result = measured(name)
        if result is None:
            print(f"left out, a package is missing: {name}", flush=True)
            continue
        log, wrong_facts = result
        ran.append(name)
        wrong += [f"{name}: {words}" for words in wrong_facts]
        recompiles, breaks = (
            sum(logged_compile.again for logged_compile in log.values()),
            sum(bool(logged_compile.broken) for logged_compile in log.values()),
        )
        print(f"{'WRONG' if wrong_facts else 'right'}  {name}: {recompiles} recompiles, {breaks} breaks", flush=True)
    report(
        [
            Bar("public programs compared with torch's log", str(len(ran)), len(ran) >= 1),
            none_of("recompiles, breaks and lines that differ from torch's log", wrong, f"{len(ran)} programs"),
        ]
    )


if __name__ == "__main__":
    main()
