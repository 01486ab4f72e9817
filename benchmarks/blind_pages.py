"""Writes what a user sees of some situations, for a reading that knows neither the program nor what is expected.

    python -m benchmarks.blind_pages FOLDER                  # 40 situations and no healthy loop, drawn by --seed
    python -m benchmarks.blind_pages FOLDER --count 10 --seed 1

`FOLDER/pages/01.md` has the terminal's lines and `index.md`. The file of each program is called `program.py` there,
since its name tells its subject. `FOLDER/answers/01.json` has the program's name, its text and its expectation.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
from pathlib import Path

from benchmarks.forks import Forks
from benchmarks.situations import LONGEST_SECONDS, PROGRAMS, Runs, expectation, said_in_terminal

COUNT = 40


def drawn(count: int, seed: int) -> list[str]:
    """Return the names of `count` situations that are no healthy loops, in random order.

    Args:
        count: how many.
        seed: of the draw.

    Returns:
        The names, each once.

    Raises:
        ValueError: if there are fewer situations.
    """
    names = sorted(path.stem for path in PROGRAMS.glob("*.py"))
    situations = [name for name in names if not expectation(name).get("healthy", False)]
    return random.Random(seed).sample(situations, count)


def blind(text: str, name: str) -> str:
    """Return a text in which nothing names the program `name`, or has a mark at which something is expected."""
    text = re.sub(r"\s*# here: \w+", "", text)
    return text.replace(f"{name}.py", "program.py").replace(str(PROGRAMS), "").replace(name, "program")


def write(name: str, number: int, folder: Path, run: Runs) -> None:
    """Run a situation and write its page and its answer.

    Args:
        name: the situation's name.
        number: its number in the folder, from 1.
        folder: the folder with `pages` and `answers`, which exist.
        run: runs a program, with the arguments of `situations.started`.

    Raises:
        TimeoutError: if the program takes too long.
    """
    program = PROGRAMS / f"{name}.py"
    with tempfile.TemporaryDirectory() as scratch:
        dump = Path(scratch) / "dump"
        output = run(program, dump, LONGEST_SECONDS).output
        terminal = said_in_terminal(output, program.name).replace(str(dump), "dump")
        page = (dump / "index.md").read_text().replace(str(dump), "dump")
    text = f"# The terminal\n\n```\n{blind(terminal, name)}\n```\n\n{blind(page, name)}"
    (folder / "pages" / f"{number:02}.md").write_text(text)
    answer = {"name": name, "program": program.read_text(), "expected": expectation(name)}
    (folder / "answers" / f"{number:02}.json").write_text(json.dumps(answer, indent=1) + "\n")


def main() -> None:
    """Write the pages and the answers."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.blind_pages")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for part in ("pages", "answers"):
        (options.folder / part).mkdir(parents=True, exist_ok=True)
    with Forks() as forks:
        for number, name in enumerate(drawn(options.count, options.seed), 1):
            write(name, number, options.folder, forks.run)
    print(f"{options.count} pages in {options.folder / 'pages'}")


if __name__ == "__main__":
    main()
