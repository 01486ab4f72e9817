"""Judge the programs of `corpus/agent_tasks` after a coding agent has edited copies of them.

    python -m benchmarks.agent_tasks              # the programs as they are: none may pass
    python -m benchmarks.agent_tasks DIR NAME     # the edited copies in DIR

NAME is `skill` or `server`, with which the agent worked. A program is repaired if the edited copy, compiled with
`fullgraph=True`, so that no call runs eagerly, runs to its end, compiles once or twice (the second may be the one for
sizes that vary), and prints the results that the unedited program prints without `torch.compile`. The judge reads
torch's own counters and uses nothing of depyf.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.bar import Bar, report

PROGRAMS = Path(__file__).parents[1] / "corpus" / "agent_tasks"
COMPILES = 2  # most compiles of a repaired program
ENOUGH = 17  # repaired programs of 20 that are asked for
SECONDS = 300  # limit of a run
TOLERANCE = 2e-3  # relative; sums of float32 in another order differ by less

JUDGE = """
import json, runpy, sys
import torch
from torch._dynamo.utils import counters

compile = torch.compile


def whole(model=None, **options):
    if model is None:
        return lambda inner: whole(inner, **options)
    return compile(model, **{**options, "backend": "eager", "fullgraph": True})


if sys.argv[2] == "compiled":
    torch.compile = whole
    torch._dynamo.config.fail_on_recompile_limit_hit = True
sys.argv = sys.argv[1:2]
runpy.run_path(sys.argv[0], run_name="__main__")
print(json.dumps(counters["stats"]["unique_graphs"]))
"""


def run(program: Path, mode: str) -> tuple[list[str], int]:
    """Return the words of a program's last result, and the number of its graphs.

    Args:
        program: The script.
        mode: `compiled`, or `plain` for a run without `torch.compile`.

    Raises:
        RuntimeError: The program did not end well, or printed no result.
    """
    environment = dict(os.environ, TORCHDYNAMO_DISABLE="1") if mode == "plain" else dict(os.environ)
    ended = subprocess.run(
        [sys.executable, "-c", JUDGE, str(program), mode],
        cwd=program.parent,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    lines = ended.stdout.splitlines()
    results = [line for line in lines if line.startswith("result")]
    if ended.returncode or not results:
        raise RuntimeError(ended.stderr.strip().splitlines()[-1] if ended.stderr.strip() else "no result was printed")
    return results[-1].split(), json.loads(lines[-1])


def same(word: str, other: str) -> bool:
    """Whether two printed words are equal, numbers with a tolerance."""
    try:
        return math.isclose(float(word), float(other), rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    except ValueError:
        return word == other


def wrong(original: Path, edited: Path) -> str:
    """Return why an edited program is not repaired, empty where it is."""
    expected, _ = run(original, "plain")
    try:
        result, graphs = run(edited, "compiled")
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return str(error)[:200]
    if len(result) != len(expected) or not all(map(same, result, expected)):
        return f"prints {' '.join(result)} in place of {' '.join(expected)}"
    return "" if 1 <= graphs <= COMPILES else f"{graphs} compiles"


def main(folder: str = "", name: str = "") -> None:
    """Judge a folder, and report the bar; without one, fail if an unedited program passes."""
    programs = sorted(PROGRAMS.glob("*.py"))
    edited = Path(folder) if folder else PROGRAMS
    reasons = {program.stem: wrong(program, edited / program.name) for program in programs}
    broken = [f"{program}: {reason}" for program, reason in reasons.items() if reason]
    repaired = len(programs) - len(broken)
    number = f"{repaired} of {len(programs)}"
    if folder:
        what = f"Broken programs that a coding agent with the {name} alone repairs with equal results"
        report([Bar(what, number, repaired >= ENOUGH, broken)])
    else:
        report([Bar("Broken programs that pass without an edit", number, not repaired, broken)])


if __name__ == "__main__":
    main(*sys.argv[1:])
