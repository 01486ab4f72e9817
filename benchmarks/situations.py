"""Programs modelled on public reports, and what is said of each against what was expected before.

    python -m benchmarks.situations                          # all; --resume takes kept results that still hold
    python -m benchmarks.situations NAME...                  # some; --batch N takes those of one batch
    python -m benchmarks.situations --alone [--jobs 2]       # each under `depyf run` in a process of its own: slow
    python -m benchmarks.situations --batch N --record       # keep the judgements of programs that never ran before
    python -m benchmarks.situations --first                  # the bars over the kept first runs, without a run

Each program runs as `depyf run` runs it, in a fork of one process that has imported torch (`benchmarks/forks.py`).
A program that ends with another exit code than expected, also without depyf, needs another torch and is not judged.

Beside each program lies its expectation, which is committed before the program runs for the first time;
corpus/situations/README.md describes its keys. Bars: right in at least 95 %, no sentence that must not be said, nothing
above "low" for a healthy loop. Exits with 1 where a bar is missed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.bar import Bar, report
from benchmarks.forks import Forks, Ran

PROGRAMS = Path(__file__).parents[1] / "corpus" / "situations"
KEPT = Path(tempfile.gettempdir()) / "depyf_situations"
FIRST = PROGRAMS / "first_run.json"
SOURCES = Path(__file__).parents[1] / "src" / "depyf"
LONGEST_SECONDS = 300

Runs = Callable[[Path, Path | None, float], Ran]
"""Runs a program: its file, the directory of its dump or None, and the most seconds that it may take."""

_SHARE = re.compile(r"(?P<what>[^,]*?) (?P<count>\d+)$")
_SHARES = "recompiles for each cause alone: "


@dataclass
class Judgement:
    """What is wrong with the report on one program.

    missing: what had to be said and was not, or not so.
    false: what was said and must not be.
    healthy: whether nothing above "low" may be said.
    """

    missing: list[str] = field(default_factory=list)
    false: list[str] = field(default_factory=list)
    healthy: bool = False

    @property
    def right(self) -> bool:
        """Return whether the report says what it must and nothing that it must not."""
        return not self.missing and not self.false


def marked(program: str, mark: str) -> int:
    """Return the line of a program that has a mark.

    Args:
        program: the text of the program.
        mark: the word after `# here:`.

    Returns:
        The line's number.

    Raises:
        ValueError: if not exactly one line has this mark.
    """
    lines = [number for number, row in enumerate(program.splitlines(), 1) if row.endswith(f"# here: {mark}")]
    if len(lines) != 1:
        raise ValueError(f"{len(lines)} lines have the mark {mark!r}")
    return lines[0]


def said_in_terminal(output: str, file: str) -> str:
    """Return depyf's lines of a run's output, without the name of the program's file: its words are not depyf's."""
    return "\n".join(row.replace(file, "") for row in output.splitlines() if row.startswith("depyf:"))


def _unlike(wanted: dict[str, Any], finding: dict[str, Any], first: bool, program: str) -> list[str]:
    """Return in what a finding differs from what must be said, besides its words."""
    differences = []
    where, fix = finding["where"] or {}, finding["fix"] or ""
    if "kind" in wanted and finding["kind"] != wanted["kind"]:
        differences.append(f"kind {finding['kind']}, not {wanted['kind']}")
    if "line" in wanted and where.get("line") != marked(program, wanted["line"]):
        differences.append(f"line {where.get('line')}, not {marked(program, wanted['line'])}")
    if wanted.get("first") and not first:
        differences.append("not first")
    if wanted.get("above_low") and finding["severity"] == "low":
        differences.append("only low")
    if wanted.get("low") and finding["severity"] != "low":
        differences.append(f"{finding['severity']}, not low")
    if "compiles" in wanted and len(finding["compiles"]) != wanted["compiles"]:
        differences.append(f"{len(finding['compiles'])} compiles, not {wanted['compiles']}")
    if "shares" in wanted and (stated := shares(finding["cause"])) != wanted["shares"]:
        differences.append(f"shares {stated}, not {wanted['shares']}")
    if wanted.get("no_fix") and fix:
        differences.append(f"a fix: {fix}")
    differences += [f"fix without {word!r}: {fix}" for word in wanted.get("fix_has", ()) if word not in fix]
    differences += [f"fix with {word!r}: {fix}" for word in wanted.get("fix_lacks", ()) if word in fix]
    return differences


def shares(cause: str) -> list[list[Any]]:
    """Return what a sentence says of the recompiles for each cause, in its order: `[["`self.tau`", 7], ...]`."""
    parts = cause.partition(_SHARES)[2].partition(";")[0].split(", ")
    matches = (_SHARE.match(part) for part in parts)
    return [[share["what"], int(share["count"])] for share in matches if share is not None]


def _twice(findings: list[dict[str, Any]]) -> list[str]:
    """Return the compiles that two findings about recompiles count."""
    counted: dict[str, int] = {}
    for finding in findings:
        if "was compiled again" in finding["cause"] or finding["kind"] == "recompile-limit":
            counted.update((compile_id, counted.get(compile_id, 0) + 1) for compile_id in finding["compiles"])
    return [compile_id for compile_id, times in counted.items() if times > 1]


def _too_loud(expected: dict[str, Any], findings: list[dict[str, Any]], program: str) -> list[str]:
    """Return the findings above "low" where nothing, or another number, may be above it."""
    loud = [finding for finding in findings if finding["severity"] != "low"]
    quiet = {marked(program, mark) for mark in expected.get("quiet", ())}
    false = [f"{finding['severity']}: {finding['cause']}" for finding in loud if expected.get("healthy")]
    false += [
        f"{finding['severity']} at a quiet line: {finding['cause']}" for finding in loud if _line(finding) in quiet
    ]
    if len(loud) > expected.get("loud", len(loud)):
        causes = " | ".join(finding["cause"] for finding in loud)
        false.append(f"{len(loud)} findings above low, not {expected['loud']}: {causes}")
    return false


def _line(finding: dict[str, Any]) -> int | None:
    return (finding["where"] or {}).get("line")


def judge(expected: dict[str, Any], findings: list[dict[str, Any]], terminal: str, program: str) -> Judgement:
    """Judge what was said of a program.

    Args:
        expected: the expectation beside the program.
        findings: the findings of index.json, in their order.
        terminal: what the run printed.
        program: the text of the program.

    Returns:
        What is missing and what is false.
    """
    judgement = Judgement(healthy=expected.get("healthy", False))
    for wanted in expected.get("must", ()):
        reasons = [
            _unlike(wanted, finding, place == 0, program)
            for place, finding in enumerate(findings)
            if all(word in finding["cause"] for word in wanted["words"])
        ]
        if not reasons:
            judgement.missing.append(f"nothing says {wanted['words']}")
        elif all(reasons):
            nearest = min(reasons, key=len)
            judgement.missing.append(f"{wanted['words']}: {'; '.join(nearest)}")
    said = "\n".join([terminal, *(f"{finding['cause']} {finding['fix'] or ''}" for finding in findings)])
    judgement.false += [f"it says {words!r}" for words in expected.get("not_said", ()) if words in said]
    judgement.false += _too_loud(expected, findings, program)
    judgement.false += [f"{compile_id} is counted in two findings" for compile_id in _twice(findings)]
    return judgement


def expectation(name: str) -> dict[str, Any]:
    """Return the expectation beside a program, with what differs on this torch and this Python."""
    expected: dict[str, Any] = json.loads((PROGRAMS / f"{name}.json").read_text())
    for release, others in expected.pop("releases", {}).items():
        if is_running(release):
            expected.update(others)
    return expected


def is_running(release: str) -> bool:
    """Return whether a release is that of this process.

    Args:
        release: `torch 2.6`, `torch 2.6 to 2.9` or `Python 3.10`: the last one included.

    Returns:
        Whether this process runs it.
    """
    of, first, *last = release.replace(" to ", " ").split()
    here = tuple(map(int, (version("torch") if of == "torch" else platform.python_version()).split(".")[:2]))
    bounds = [tuple(map(int, each.split("."))) for each in (first, *last)]
    return bounds[0] <= here <= bounds[-1]


def started(program: Path, dump: Path | None, longest: float) -> Ran:
    """Run a program in a process of its own, under `depyf run` if there is a `dump`.

    Args:
        program: its file.
        dump: the directory of the dump; None to run it without depyf.
        longest: the most seconds that it may take.

    Returns:
        Its exit code and what was printed.

    Raises:
        TimeoutError: if it took longer.
    """
    captured = ["-m", "depyf", "run", "--no-html", "-o", str(dump)] if dump is not None else []
    command = [sys.executable, *captured, str(program)]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=longest, check=False)
    except subprocess.TimeoutExpired as error:
        raise TimeoutError(str(error)) from error
    return Ran(run.returncode, run.stdout + run.stderr)


def measured(name: str, longest: float = LONGEST_SECONDS, run: Runs = started) -> Judgement | None:
    """Run one program under depyf, and judge the report.

    Args:
        name: the program's name.
        longest: the most seconds that it may take.
        run: runs a program, with the arguments of `started`.

    Returns:
        The judgement; a run that takes too long or writes no index is one that says nothing. None if this torch cannot
        run the program: it ends with another exit code than expected, also without depyf, or its expectation says so.
    """
    expected, program = expectation(name), PROGRAMS / f"{name}.py"
    if "lacking" in expected:
        return None
    judgement = Judgement(healthy=expected.get("healthy", False))
    with tempfile.TemporaryDirectory() as scratch:
        dump = Path(scratch) / "dump"
        try:
            code, output = run(program, dump, longest)
        except TimeoutError:
            judgement.missing.append(f"no end within {longest:g} s")
            return judgement
        if code != expected.get("exit_code", 0):
            if run(program, None, longest).code == code:
                return None
            judgement.missing.append(f"exit code {code}")
        index, terminal = dump / "index.json", said_in_terminal(output, program.name)
        if not index.exists():
            judgement.missing.append(f"no index.json: {output[-500:]}")
            return judgement
        whole = judge(expected, json.loads(index.read_text())["findings"], terminal, program.read_text())
    whole.missing += judgement.missing
    return whole


def state(name: str) -> str:
    """Return a digest of all that a judgement depends on: program, expectation, this file, depyf, torch and Python."""
    files = [PROGRAMS / f"{name}.py", PROGRAMS / f"{name}.json", Path(__file__), *sorted(SOURCES.rglob("*.py"))]
    digest = hashlib.sha256(f"{sys.version} {version('torch')}".encode())
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _known(kept: Path) -> dict[str, Any]:
    """Return what an earlier run has kept, or nothing."""
    known: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() else {}
    return known


def _judgement(name: str, resume: bool, run: Runs) -> Judgement | None:
    """Return the judgement of a program; where a run is resumed, the kept one if nothing has changed since."""
    kept, now = KEPT / version("torch") / f"{name}.json", state(name)
    known = _known(kept) if resume else {}
    if known.get("state") == now:
        judgement = Judgement(**known["judgement"]) if known["judgement"] is not None else None
    else:
        judgement = measured(name, run=run)
        kept.parent.mkdir(parents=True, exist_ok=True)
        # A run that is stopped while it writes leaves no file that a later run reads.
        written = kept.with_suffix(".part")
        written.write_text(json.dumps({"state": now, "judgement": asdict(judgement) if judgement else None}))
        written.replace(kept)
    if judgement is None:
        why = expectation(name).get("lacking", "it fails without depyf, too")
        print(f"no run {name}: {why}", flush=True)
        return None
    reasons = "; ".join(judgement.missing + judgement.false)
    print(f"{'right' if judgement.right else 'WRONG'}  {name}{': ' if reasons else ''}{reasons}", flush=True)
    return judgement


def first_runs() -> dict[str, Judgement]:
    """Return the judgements of the first runs, by name."""
    kept = json.loads(FIRST.read_text()) if FIRST.exists() else {}
    return {name: Judgement(**judgement) for name, judgement in kept.items()}


def record(judgements: dict[str, Judgement]) -> None:
    """Keep judgements as first runs, but for programs that have one."""
    whole = {**judgements, **first_runs()}
    text = json.dumps({name: asdict(judgement) for name, judgement in sorted(whole.items())}, indent=1)
    FIRST.write_text(text + "\n")


def bars(judgements: dict[str, Judgement]) -> list[Bar]:
    """Return the bars over judged programs, by name."""
    situations = {name: judgement for name, judgement in judgements.items() if not judgement.healthy}
    healthy = {name: judgement for name, judgement in judgements.items() if judgement.healthy}
    wrong = [name for name, judgement in situations.items() if not judgement.right]
    false = [f"{name}: {words}" for name, judgement in situations.items() for words in judgement.false]
    loud = [name for name, judgement in healthy.items() if not judgement.right]
    right = len(situations) - len(wrong)
    return [
        Bar("situations: right", f"{right} of {len(situations)}", right * 100 >= len(situations) * 95, wrong),
        Bar("situations: false sentences", str(len(false)), not false, false),
        Bar("healthy: nothing above low", f"{len(healthy) - len(loud)} of {len(healthy)}", not loud, loud),
    ]


def first_bars(judgements: dict[str, Judgement]) -> list[Bar]:
    """Return the numbers of first runs. They are facts, so no bar can be missed."""
    return [Bar(f"first run: {bar.what}", bar.number, True, note=bar.note) for bar in bars(judgements)]


def _names(names: list[str], batch: int | None) -> list[str]:
    """Return the programs to run: those named, or all, or those of a batch."""
    everything = names or sorted(path.stem for path in PROGRAMS.glob("*.py"))
    return [name for name in everything if batch is None or expectation(name).get("batch", 0) == batch]


def main() -> None:
    """Print each judgement and the bars."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.situations")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--batch", type=int, help="only the programs of this batch")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--resume", action="store_true", help="take kept results of which nothing has changed since")
    parser.add_argument("--record", action="store_true", help="keep the judgements of first runs")
    parser.add_argument("--alone", action="store_true", help="run each program in a process of its own")
    parser.add_argument("--first", action="store_true", help="judge the kept first runs, and run nothing")
    options = parser.parse_args()
    names = _names(options.names, options.batch)
    if options.first:
        report(first_bars({name: judgement for name, judgement in first_runs().items() if name in names}))
        return
    with ExitStack() as stack:
        run = started if options.alone else stack.enter_context(Forks()).run
        pool = stack.enter_context(ThreadPoolExecutor(options.jobs if options.alone else 1))
        judged = list(pool.map(lambda name: _judgement(name, options.resume, run), names))
    judgements = {name: judgement for name, judgement in zip(names, judged, strict=True) if judgement is not None}
    print(f"torch {version('torch')}, Python {sys.version.split()[0]}")
    print(f"{len(names) - len(judgements)} of {len(names)} programs need another torch")
    if options.record:
        record(judgements)
    report(bars(judgements))


if __name__ == "__main__":
    main()
