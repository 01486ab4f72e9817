"""Run the contract tests in several environments and write `docs/support-matrix.md`.

python scripts/support_matrix.py py310-t260=/path/to/bin/python py313-t215=/path/to/bin/python

Each environment needs torch and pytest. The debugger tests also need debugpy and pexpect. Results are kept in
`docs/support-matrix.json`, so you can run one environment at a time, or only some parts: `--parts tests`. With
`--again` only the tests that failed run again; the other results stay. Without an environment, the page is written from
the results.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "support-matrix.md"
RESULTS = ROOT / "docs" / "support-matrix.json"

Found: TypeAlias = dict[str, object]

_PROBE = """
import json, logging, platform, tempfile, torch, depyf
logging.disable(logging.CRITICAL)
from corpus.dynamo_programs import breaks
with tempfile.TemporaryDirectory() as directory:
    with depyf.prepare_debug(directory) as session:
        torch.compile(breaks.once, backend="eager")(torch.ones(3))
print(json.dumps({"torch": torch.__version__, "python": platform.python_version(), "unavailable": session.unavailable}))
"""

_SUMMARY = re.compile(r"(\d+) (passed|failed|skipped|errors?)\b")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+\.py(?:::.*?)?)(?: - .*)?$", re.MULTILINE)
_SKIPPED = re.compile(r"^SKIPPED \[(\d+)\] \S+: (.*)$", re.MULTILINE)
_BAR = re.compile(r"^(?:met    |NOT MET)  ([^:\n]+): (.*)$", re.MULTILINE)


SECONDS = 3600
"""The longest that a part may take; what it has printed by then does not count."""

CONTRACT_TESTS = ("tests/torch", "tests/model", "tests/findings", "tests/links", "tests/views")


def _output(python: str, *arguments: str) -> str:
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    # A summary of pytest's has the width of the terminal.
    environment["COLUMNS"] = "400"
    command = [python, "-W", "ignore", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True, timeout=SECONDS
    )
    return done.stdout if done.stdout.strip() else done.stderr


def probe(python: str, _: Found) -> Found:
    """Return the versions of an environment, and which seams its torch does not have."""
    lines = [line for line in _output(python, "-c", _PROBE).splitlines() if line.startswith("{")]
    if not lines:
        raise RuntimeError(f"{python} has no torch, or depyf does not run there")
    versions: Found = json.loads(lines[-1])
    return versions


def run_tests(python: str, before: Found) -> Found:
    """Return how many contract tests pass, and why others are skipped."""
    return _tests(python, before, "-m", "not slow", *CONTRACT_TESTS)


def run_debuggers(python: str, before: Found) -> Found:
    """Return how many tests pass that step through the files of a dump in pdb, and in debugpy as an editor does."""
    return _tests(python, before, "tests/torch/debuggers")


def _tests(python: str, before: Found, *which: str) -> Found:
    failed = before.get("failed")
    if isinstance(failed, list) and failed:
        return _again(python, before, failed)
    return _pytest(python, *which)


def _again(python: str, before: Found, failed: list[str]) -> Found:
    """Return what is known, with the tests that failed run again, file by file."""
    known: Any = before
    counts = Counter({kind: number for kind, number in known["counts"].items() if kind not in ("failed", "error")})
    skipped = Counter(known["skipped"])
    still: list[str] = []
    for file, ids in itertools.groupby(failed, key=lambda test: test.partition("::")[0]):
        rerun: Any = _pytest(python, *ids)
        if not rerun["counts"]:
            # Without these tests in it: the whole file is skipped by now.
            rerun = _pytest(python, file)
        counts.update(rerun["counts"])
        skipped.update(rerun["skipped"])
        still += rerun["failed"]
    return {"counts": dict(counts), "skipped": dict(sorted(skipped.items())), "failed": still}


def _pytest(python: str, *which: str) -> Found:
    options = ("-q", "-rfEs", "--tb=no", "--show-capture=no", "-p", "no:cacheprovider")
    text = _output(python, "-m", "pytest", *options, *which)
    last = text.strip().rpartition("\n")[2]
    counts = {kind.rstrip("s"): int(number) for number, kind in _SUMMARY.findall(last)}
    skipped: Counter[str] = Counter()
    for number, reason in _SKIPPED.findall(text):
        skipped[reason] += int(number)
    failed = _FAILED.findall(text)
    return {"counts": counts, "skipped": dict(sorted(skipped.items())), "failed": failed}


def run_guards(python: str, _: Found) -> Found:
    """Return on how many pairs of program and call the guards say what torch's own say."""
    text = _output(python, "-m", "benchmarks.guard_verdicts")
    match = re.search(r"^(\d+) of (\d+) pairs agree", text, re.MULTILINE)
    return {"agree": int(match[1]), "pairs": int(match[2])} if match else {"agree": 0, "pairs": 0}


def run_dynamo(python: str, _: Found) -> Found:
    """Return the bars of Dynamo's own code."""
    return dict(_BAR.findall(_output(python, "-m", "benchmarks.dynamo_code")))


PARTS: dict[str, Callable[[str, Found], Found]] = {
    "probe": probe,
    "tests": run_tests,
    "debuggers": run_debuggers,
    "guards": run_guards,
    "dynamo": run_dynamo,
}


def page(results: dict[str, dict[str, Found]]) -> str:
    """Return the text of the page."""
    order = sorted(results.values(), key=_versions)
    lines = [
        "# Supported versions",
        "",
        "`scripts/support_matrix.py` writes this page. For each environment it runs the contract tests (`tests/torch`,",
        "`tests/report`), the debugger tests (`tests/torch/debuggers`), the check of guard verdicts against torch's",
        "C++ guards (`benchmarks/guard_verdicts`), and the programs for Dynamo (`benchmarks/dynamo_code.py`). A test",
        "is skipped if the torch lacks what it tests; the reasons are listed below.",
        "",
        "| torch | Python | contract tests | debugger tests | guards that agree with C++ | decompiled code of Dynamo |",
        "|---|---|---|---|---|---|",
        *(_row(environment) for environment in order),
        "",
        "With another release of torch, depyf checks for each internal interface that it uses. `index.md` lists those",
        "that are missing.",
        "",
        "## Unavailable or failing, by environment",
        "",
    ]
    for environment in order:
        where = f"torch {environment['probe']['torch']}, Python {environment['probe']['python']}"
        said = [
            *_unavailable(environment["probe"].get("unavailable")),
            *_skipped(environment.get("tests", {}).get("skipped")),
        ]
        failed = environment.get("tests", {}).get("failed")
        said += [f"- fails: `{test}`" for test in failed] if isinstance(failed, list) else []
        lines += [f"**{where}**", "", *(said or ["- nothing"]), ""]
    return "\n".join(lines)


def _versions(environment: dict[str, Found]) -> tuple[list[int], list[int]]:
    torch, python = (str(environment["probe"][name]) for name in ("torch", "python"))
    return tuple([int(part) for part in re.findall(r"\d+", text.partition("+")[0])] for text in (torch, python))  # type: ignore[return-value]


def _row(environment: dict[str, Found]) -> str:
    tests, debuggers = (_count(environment.get(part, {}).get("counts", {})) for part in ("tests", "debuggers"))
    guards, dynamo = environment.get("guards", {}), environment.get("dynamo", {})
    pairs = f"{guards['agree']} of {guards['pairs']} pairs" if guards.get("pairs") else "not run"
    unproven = str(dynamo.get("code objects whose source is not proven", "? of ?"))
    other = str(dynamo.get("programs with other results", "?"))
    code = f"not proven: {unproven}; different results: {other}"
    versions = f"{environment['probe']['torch']} | {environment['probe']['python']}"
    return f"| {versions} | {tests} | {debuggers} | {pairs} | {code} |"


def _count(counts: object) -> str:
    assert isinstance(counts, dict)
    if not counts:
        return "not run"
    text = f"{counts.get('passed', 0)} pass, {counts.get('failed', 0) + counts.get('error', 0)} fail"
    return f"{text}, {counts['skipped']} skipped" if counts.get("skipped") else text


def _unavailable(seams: object) -> Iterable[str]:
    assert isinstance(seams, dict)
    return [f"- {seam}: {reason}" for seam, reason in sorted(seams.items())]


def _skipped(reasons: object) -> Iterable[str]:
    if not isinstance(reasons, dict):
        return []
    return [f"- {number} test{'s' if number > 1 else ''}: {reason}" for reason, number in reasons.items()]


def main(arguments: list[str]) -> int:
    """Ask the environments, and write the page; return 1 when a test fails in one of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("environments", nargs="*", metavar="NAME=PYTHON")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--again", action="store_true", help="of tests, run those that failed")
    options = parser.parse_args(arguments)
    results: dict[str, dict[str, Found]] = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    for environment in options.environments:
        name, _, python = environment.partition("=")
        for part in options.parts:
            known = results.setdefault(name, {})
            known[part] = PARTS[part](python, known.get(part, {}) if options.again else {})
            print(name, part, json.dumps(known[part], indent=1), flush=True)
        RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", "utf-8")
    PAGE.write_text(page(results), "utf-8")
    parts = [environment.get(part, {}) for environment in results.values() for part in ("tests", "debuggers")]
    return int(any(part.get("failed") for part in parts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
