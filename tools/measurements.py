"""Keep what was measured: `docs/measurements.json` has one row for a claim, and the page is written from it.

    python -m tools.measurements                 # write docs/measurements.md
    python -m tools.measurements --run TEXT      # run the commands of the claims with a text, and keep what they print

A row holds the `section`, the `claim`, the `bar` it is held against, the `value`, the `command` that prints it, and the
date `on` which it did. `reads` is a regular expression that finds the value in what the command prints: its groups, in
order. A row without it is read and written by a person.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "measurements.json"
PAGE = ROOT / "docs" / "measurements.md"
HEAD = "| claim | bar | value | command | measured |\n|---|---|---|---|---|\n"


def page(found: dict[str, Any]) -> str:
    """Return the page: a table for each section, in the order of the data."""
    parts = [f"# Measurements\n\n{found['text']}\n"]
    for section, text in found["sections"].items():
        rows = [each for each in found["rows"] if each["section"] == section]
        told = f"{text}\n\n" if text else ""
        parts.append(f"## {section}\n\n{told}{HEAD}{''.join(map(_row, rows))}")
    return "\n".join(parts)


def _row(row: dict[str, Any]) -> str:
    command = f"`{row['command']}`" if row["command"] else ""
    cells = (row["claim"], row.get("bar", ""), row["value"], command, row["on"])
    return f"| {' | '.join(each.replace('|', chr(92) + '|') for each in cells)} |\n"


def read_value(pattern: str, printed: str) -> str:
    """Return the value in what a command has printed.

    Raises:
        LookupError: it is not there.

    >>> read_value(r"(\\d+) of (\\d+) regressions", "torch 2.13.0: 40 of 40 regressions fail")
    '40, 40'
    """
    found = re.search(pattern, printed)
    if found is None:
        raise LookupError(f"nothing in the output is like {pattern}")
    return ", ".join(found.groups()) or found[0]


def run(rows: list[dict[str, Any]]) -> None:
    """Run the command of each row, once for all rows that it serves, and keep the values.

    Raises:
        LookupError: a command does not print the value.
    """
    printed: dict[str, str] = {}
    for row in rows:
        if "reads" not in row:
            print(f"left to a person: {row['claim']}", file=sys.stderr)
            continue
        if row["command"] not in printed:
            command = [sys.executable if word == "python" else word for word in shlex.split(row["command"])]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
            printed[row["command"]] = done.stdout + done.stderr
        row["value"] = read_value(row["reads"], printed[row["command"]])
        row["on"] = datetime.datetime.now(tz=datetime.timezone.utc).date().isoformat()
        print(f"{row['claim']}: {row['value']}")


def main() -> None:
    """Write the page; first run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", metavar="TEXT", help="run the commands of the claims with this text")
    arguments = parser.parse_args()
    found = json.loads(DATA.read_text(encoding="utf-8"))
    if arguments.run is not None:
        run([row for row in found["rows"] if arguments.run in row["claim"]])
        DATA.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
