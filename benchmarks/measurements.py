"""Keep what was measured: `docs/measurements.json` has one row for each claim, and the page is written from it.

    python -m benchmarks.measurements                 # write docs/measurements.md
    python -m benchmarks.measurements --run TEXT      # first run the commands of rows with TEXT in id or claim
    DEPYF_KEEP=1 python -m benchmarks.toy        # a benchmark with bars writes its values into the data itself

A row has these fields:

    id            a short name
    topic         the section of the page
    claim         what the value says, in words that need no other row
    bar           `0`, `all`, `at most 1.1 s` or `at least 98 %`; empty if there is none
    value         one number, or `N of M`, with its unit
    command       the command that prints the value; words in capitals stand for any argument, `WORD...` for several
    environment   the versions of torch and Python that were measured
    on            the date
    prints        the bar of `benchmarks/bar.py` that holds the value; with `*` the sum of several bars
    reads         otherwise a regular expression whose first group is the value in the output

A person writes the value of a row without `prints` and `reads`.
"""

from __future__ import annotations

import argparse
import datetime
import fnmatch
import importlib.metadata
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "measurements.json"
PAGE = ROOT / "docs" / "measurements.md"
HEAD = "| claim | bar | value | status | command | environment | measured |\n|---|---|---|---|---|---|---|\n"
VALUE = re.compile(r"[\d,]+(?:\.\d+)?(?: of [\d,]+)?(?: (?:%|us|ms|s|min|bytes|kB|MB))?")
BAR = re.compile(r"(?:|all|0|at (?:most|least) " + VALUE.pattern + ")")

_PRINTED = re.compile(r"^(?:met    |NOT MET)  (.*?): ([^:(\n]*?)(?: \(.*\))?$", re.MULTILINE)
_NUMBERS = re.compile(r"[\d,]+(?:\.\d+)?")


def page(data: dict[str, Any]) -> str:
    """Return the page: a table for each topic, in the order of the data."""
    parts = [f"# Measurements\n\n{data['text']}\n"]
    for topic, text in data["topics"].items():
        rows = [row for row in data["rows"] if row["topic"] == topic]
        introduction = f"{text}\n\n" if text else ""
        parts.append(f"## {topic}\n\n{introduction}{HEAD}{''.join(map(_row, rows))}")
    return "\n".join(parts)


def _row(row: dict[str, Any]) -> str:
    bar = row.get("bar", "")
    status = "" if not bar else "met" if is_met(bar, row["value"]) else "**not met**"
    cells = (row["claim"], bar, row["value"], status, f"`{row['command']}`", row["environment"], row["on"])
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def is_met(bar: str, value: str) -> bool:
    """Return whether a value meets its bar.

    >>> is_met("at most 1.1", "1.07"), is_met("0", "0 of 42"), is_met("all", "9 of 10")
    (True, True, False)
    >>> is_met("at least 95 %", "6 of 6")
    True
    """
    if bar == "all":
        return _share(value) == 1
    if bar.endswith("%") and " of " in value:
        value = str(100 * _share(value))
    wanted, reached = (_share(text) if " of " in bar else _numbers(text)[0] for text in (bar, value))
    if bar.startswith("at most"):
        return reached <= wanted
    return reached >= wanted if bar.startswith("at least") else reached == wanted


def _numbers(text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in _NUMBERS.findall(text)]


def _share(text: str) -> float:
    part, whole = _numbers(text)
    return part / whole


def keep(command: str, printed: Mapping[str, str]) -> list[str]:
    """Write the values that a command has printed in this environment into the data; return the ids of their rows.

    command: as rows have it, with the arguments of this run.
    printed: the numbers of the bars by their names.
    """
    data = json.loads(DATA.read_text(encoding="utf-8"))
    here = environment()
    kept = []
    for row in data["rows"]:
        is_here = row["environment"] in (here, here.partition(", ")[2]) or "PYTHON" in row["command"]
        if "prints" in row and is_here and _is_of(row["command"], command):
            value = value_of(row["prints"], printed)
            if value is not None:
                row["value"], row["on"] = value, _today()
                kept.append(row["id"])
    write(data)
    return kept


def environment() -> str:
    """Return the versions of torch and Python that run this, as rows write them."""
    python = f"Python {sys.version_info[0]}.{sys.version_info[1]}"
    try:
        return f"torch {importlib.metadata.version('torch').partition('+')[0]}, {python}"
    except importlib.metadata.PackageNotFoundError:
        return f", {python}"


def _is_of(pattern: str, command: str) -> bool:
    """Return whether a row's command is this one; words in capitals stand for any."""
    words, wanted = shlex.split(command), shlex.split(pattern)
    if wanted[-1].endswith("..."):
        words, wanted = words[: len(wanted) - 1], wanted[:-1]
    return len(words) == len(wanted) and all(word == two or word.isupper() for word, two in zip(wanted, words))


def value_of(prints: str, printed: Mapping[str, str]) -> str | None:
    """Return the value of the bar that a row names, or the sum of several, or None if there is none.

    >>> value_of("*: warnings", {"a: warnings": "0 of 3 runs", "b: warnings": "1 of 4 runs"})
    '1 of 7'
    """
    values = [VALUE.match(value) for name, value in printed.items() if fnmatch.fnmatchcase(name, prints)]
    matched = [match[0] for match in values if match is not None]
    if len(matched) < 2:
        return matched[0] if matched else None
    return " of ".join(f"{sum(column):,.0f}" for column in zip(*map(_numbers, matched)))


def run(rows: Iterable[dict[str, Any]]) -> None:
    """Run the command of each row, once for all rows that it serves, and change their values.

    Raises:
        LookupError: the command does not print the value.
    """
    printed: dict[str, str] = {}
    for row in rows:
        if "reads" not in row and "prints" not in row:
            print(f"by hand: {row['id']}", file=sys.stderr)
            continue
        if row["command"] not in printed:
            command = [sys.executable if word == "python" else word for word in shlex.split(row["command"])]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
            printed[row["command"]] = done.stdout + done.stderr
        row["value"], row["on"] = _read(row, printed[row["command"]]), _today()
        print(f"{row['id']}: {row['value']}")


def _read(row: dict[str, Any], printed: str) -> str:
    """Return the value of a row in the output of its command."""
    if "prints" in row:
        value = value_of(row["prints"], dict(_PRINTED.findall(printed)))
    else:
        match = re.search(row["reads"], printed)
        value = match[1] if match is not None else None
    if value is None:
        raise LookupError(f"{row['command']} does not print the value of {row['id']}")
    return value


def _today() -> str:
    return datetime.datetime.now(tz=datetime.timezone.utc).date().isoformat()


def write(data: dict[str, Any]) -> None:
    """Write the data and the page."""
    DATA.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(page(data), encoding="utf-8")


def main() -> None:
    """Write the page, after the requested commands have run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", metavar="TEXT", help="run the commands of the rows whose id or claim contains TEXT")
    arguments = parser.parse_args()
    data = json.loads(DATA.read_text(encoding="utf-8"))
    if arguments.run is not None:
        run(row for row in data["rows"] if arguments.run in row["id"] or arguments.run in row["claim"])
    write(data)


if __name__ == "__main__":
    main()
