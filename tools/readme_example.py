"""Keep the example in README.md real: it is what `make demo` prints.

    python tools/readme_example.py --write      run it, and put its output into README.md
    python tools/readme_example.py --check      run it, and fail when README.md says something else

Seconds differ from run to run; they are compared as if they were all the same.
"""

from __future__ import annotations

import argparse
import difflib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"

_BLOCK = re.compile(r"(<!-- example[^\n]*-->\n```text\n)(.*?)(```\n<!-- /example -->)", re.DOTALL)
_SECONDS = re.compile(r"\d+\.\d+ s\b")


def run_example() -> str:
    """Return what `make demo` prints, run in a fresh directory."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, str(ROOT / "tools" / "demo.py"), "--out", "depyf_output"]
        done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"the demo failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def example_in(readme: str) -> str:
    """Return the example that `readme` holds."""
    found = _BLOCK.search(readme)
    if found is None:
        raise LookupError("README.md has no example between its markers")
    return found[2]


def with_example(readme: str, example: str) -> str:
    """Return `readme` with `example` in the place of the one it holds."""
    return _BLOCK.sub(lambda found: found[1] + example + found[3], readme)


def comparable(example: str) -> str:
    """Return `example` with all seconds made equal, and the width of what holds them forgotten."""
    return re.sub(r" +", " ", _SECONDS.sub("0.0 s", example))


def difference(expected: str, actual: str) -> str:
    """Return where two examples differ beyond seconds, empty when they do not."""
    lines = difflib.unified_diff(
        comparable(expected).splitlines(), comparable(actual).splitlines(), "README.md", "the demo", lineterm=""
    )
    return "\n".join(lines)


def main() -> None:
    """Write or check the example."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true")
    what.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    readme = README.read_text(encoding="utf-8")
    example = run_example()
    if arguments.write:
        README.write_text(with_example(readme, example), encoding="utf-8")
        return
    differs = difference(example_in(readme), example)
    if differs:
        sys.exit(f"{differs}\nREADME.md is out of date: make readme")


if __name__ == "__main__":
    main()
