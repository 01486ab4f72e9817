"""Keep the example in README.md real: it is what `make demo` prints.

    python scripts/readme_example.py --write      run it, and put its output into README.md
    python scripts/readme_example.py --check      run it, and fail when README.md says something else
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


def run_example() -> str:
    """Return what `make demo` prints; its files go elsewhere, so that a dump at hand stays."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "scripts/demo.py", "--out", f"{scratch}/depyf_output"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"the demo failed:\n{done.stdout}{done.stderr}")
    return done.stdout.replace(f"{scratch}/", "")


def example_in(readme: str) -> str:
    """Return the example that `readme` holds."""
    example_match = _BLOCK.search(readme)
    if example_match is None:
        raise LookupError("README.md has no example between its markers")
    return example_match[2]


def with_example(readme: str, example: str) -> str:
    """Return `readme` with `example` in the place of the one it holds."""
    return _BLOCK.sub(lambda match: match[1] + example + match[3], readme)


def difference(expected: str, actual: str) -> str:
    """Return where two examples differ, empty when they do not."""
    return "\n".join(
        difflib.unified_diff(expected.splitlines(), actual.splitlines(), "README.md", "the demo", lineterm="")
    )


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
