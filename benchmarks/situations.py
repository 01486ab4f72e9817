"""Programs modelled on public reports, and what is said of each against what was expected before.

    python -m benchmarks.situations                          # all; --resume takes kept results
    python -m benchmarks.situations NAME... [--jobs 2]       # some

Beside each program lies its expectation, written from torch's own log. Bars: right in at least 95 %, no sentence that
must not be said, nothing above "low" for a healthy loop. Exits with 1 where a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.bar import Bar, report

PROGRAMS = Path(__file__).parents[1] / "corpus" / "situations"
KEPT = Path(tempfile.gettempdir()) / "depyf_situations"
LONGEST_SECONDS = 300


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


def _unlike(wanted: dict[str, Any], finding: dict[str, Any], first: bool, program: str) -> list[str]:
    """Return in what a finding differs from what must be said, besides its words."""
    differences = []
    where, fix = finding["where"] or {}, finding["fix"] or ""
    if "line" in wanted and where.get("line") != marked(program, wanted["line"]):
        differences.append(f"line {where.get('line')}, not {marked(program, wanted['line'])}")
    if wanted.get("first") and not first:
        differences.append("not first")
    if wanted.get("above_low") and finding["severity"] == "low":
        differences.append("only low")
    if "compiles" in wanted and len(finding["compiles"]) != wanted["compiles"]:
        differences.append(f"{len(finding['compiles'])} compiles, not {wanted['compiles']}")
    if wanted.get("no_fix") and fix:
        differences.append(f"a fix: {fix}")
    differences += [f"fix without {word!r}: {fix}" for word in wanted.get("fix_has", ()) if word not in fix]
    differences += [f"fix with {word!r}: {fix}" for word in wanted.get("fix_lacks", ()) if word in fix]
    return differences


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
    said = "\n".join([terminal, *(f"{each['cause']} {each['fix'] or ''}" for each in findings)])
    judgement.false += [f"it says {words!r}" for words in expected.get("not_said", ()) if words in said]
    if judgement.healthy:
        loud = [each for each in findings if each["severity"] != "low"]
        judgement.false += [f"{each['severity']}: {each['cause']}" for each in loud]
    return judgement


def measured(name: str) -> Judgement:
    """Run one program under `depyf run` in a process of its own, judge the report and keep the judgement.

    Args:
        name: the program's name.

    Returns:
        The judgement; a run that writes no index is one that says nothing.
    """
    program = PROGRAMS / f"{name}.py"
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "depyf", "run", "--no-html", "-o", scratch, str(program)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_SECONDS, check=False)
        index = Path(scratch) / "index.json"
        if not index.exists():
            return Judgement(missing=[f"no index.json, exit code {run.returncode}: {run.stderr[-500:]}"])
        findings = json.loads(index.read_text())["findings"]
    expected = json.loads(program.with_suffix(".json").read_text())
    terminal = "\n".join(row for row in (run.stdout + run.stderr).splitlines() if row.startswith("depyf:"))
    judgement = judge(expected, findings, terminal, program.read_text())
    if run.returncode != expected.get("exit_code", 0):
        judgement.missing.append(f"exit code {run.returncode}")
    KEPT.mkdir(exist_ok=True)
    (KEPT / f"{name}.json").write_text(json.dumps(asdict(judgement)))
    return judgement


def _judgement(name: str, resume: bool) -> Judgement:
    """Return the judgement of a program, the kept one where a run is resumed."""
    kept = KEPT / f"{name}.json"
    judgement = Judgement(**json.loads(kept.read_text())) if resume and kept.exists() else measured(name)
    reasons = "; ".join(judgement.missing + judgement.false)
    print(f"{'right' if judgement.right else 'WRONG'}  {name}{': ' if reasons else ''}{reasons}", flush=True)
    return judgement


def bars(judgements: dict[str, Judgement]) -> list[Bar]:
    """Return the bars over judged programs, by name."""
    situations = {name: each for name, each in judgements.items() if not each.healthy}
    healthy = {name: each for name, each in judgements.items() if each.healthy}
    wrong = [name for name, each in situations.items() if not each.right]
    false = [f"{name}: {words}" for name, each in situations.items() for words in each.false]
    loud = [name for name, each in healthy.items() if not each.right]
    right = len(situations) - len(wrong)
    return [
        Bar("situations: right", f"{right} of {len(situations)}", right * 100 >= len(situations) * 95, wrong),
        Bar("situations: false sentences", str(len(false)), not false, false),
        Bar("healthy: nothing above low", f"{len(healthy) - len(loud)} of {len(healthy)}", not loud, loud),
    ]


def main() -> None:
    """Print each judgement and the bars."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.situations")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--resume", action="store_true", help="take the results that an earlier run has kept")
    options = parser.parse_args()
    names = options.names or sorted(path.stem for path in PROGRAMS.glob("*.json"))
    with ThreadPoolExecutor(options.jobs) as pool:
        judged = pool.map(lambda name: _judgement(name, options.resume), names)
        report(bars(dict(zip(names, judged, strict=True))))


if __name__ == "__main__":
    main()
