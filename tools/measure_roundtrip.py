"""Run `tools/roundtrip` over the standard library of every Python at hand, and print the table for the docs.

    python tools/measure_roundtrip.py [--sample 3000] [--mode function|module] [--python 3.11 ...]

Pythons are looked for as `python3.X` on PATH and among pyenv's. Those that depyf runs on measure it in process; for
the older ones it reads the `.pyc` that they make.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROUNDTRIP = ROOT / "tools" / "roundtrip" / "roundtrip.py"
MINORS = range(7, 16)
OLDEST_HOST = 10
BROKEN = ("fail", "noparse", "nocompile", "timeout", "crash")


@dataclass(frozen=True)
class Interpreter:
    """A CPython at hand, of version 3.`minor`."""

    minor: int
    path: str

    @property
    def hosts_depyf(self) -> bool:
        """Tell whether depyf itself runs on it."""
        return self.minor >= OLDEST_HOST


def interpreters() -> list[Interpreter]:
    """Return one working interpreter of each version, oldest first."""
    found = []
    for minor in MINORS:
        for path in _candidates(minor):
            program = "import sys; print(*sys.version_info[:2])"
            asked = subprocess.run([path, "-c", program], check=False, capture_output=True, text=True)
            if asked.stdout.split() == ["3", str(minor)]:
                found.append(Interpreter(minor, path))
                break
    return found


def _candidates(minor: int) -> Iterable[str]:
    if minor == sys.version_info[1]:
        yield sys.executable
    named = shutil.which(f"python3.{minor}")
    if named:
        yield named
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted(map(str, pyenv.glob(f"versions/3.{minor}.*/bin/python")), reverse=True)


def measure(interpreter: Interpreter, arguments: argparse.Namespace) -> list[dict[str, object]]:
    """Return what the round trip says of each object of the sample."""
    adapter = "ours" if interpreter.hosts_depyf else "ours_cross"
    environment = os.environ | {"OURS_PATH": str(ROOT / "src"), "OURS_PYTHON": sys.executable}
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "objects.jsonl"
        command = [interpreter.path, str(ROUNDTRIP), "run", "--adapter", adapter, "--corpus", arguments.corpus]
        command += ["--mode", arguments.mode, "--sample", str(arguments.sample), "--limit", "5", "--out", str(out)]
        subprocess.run(command, env=environment, check=True, stdout=sys.stderr)
        return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def row(interpreter: Interpreter, objects: list[dict[str, object]]) -> str:
    """Return a line of the table: shares of what was measured, and the count of what broke."""
    statuses = Counter(str(each["status"]) for each in objects)
    share = {key: 100 * sum(bool(each[key]) for each in objects) / max(1, len(objects)) for key in ("exact", "doc")}
    broken = sum(statuses[status] for status in BROKEN)
    times = sorted(float(str(each["t"] or 0)) for each in objects)
    slow = times[int(len(times) * 0.99)] * 1000 if times else 0.0
    return (
        f"| 3.{interpreter.minor} | {len(objects)} | {share['exact']:.1f} | {share['doc']:.1f} "
        f"| {statuses['wrong']} | {broken} | {sum(times):.1f} | {slow:.0f} |"
    )


def main() -> None:
    """Print the table, a row as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=3000, help="objects per Python; 0 for all")
    parser.add_argument("--mode", choices=("function", "module"), default="function")
    parser.add_argument("--corpus", default="stdlib", help="'stdlib' or a directory")
    parser.add_argument("--python", action="append", default=[], help="only this version, e.g. 3.11; may be repeated")
    arguments = parser.parse_args()
    wanted = set(arguments.python)
    print(f"{arguments.mode}s of {arguments.corpus}, seed 0, {datetime.date.today().isoformat()}\n")
    print("| Python | objects | exact % | exact with docstrings % | wrong | broken | total s | p99 ms |")
    print("|---|---|---|---|---|---|---|---|")
    for interpreter in interpreters():
        if not wanted or f"3.{interpreter.minor}" in wanted:
            print(row(interpreter, measure(interpreter, arguments)), flush=True)


if __name__ == "__main__":
    main()
