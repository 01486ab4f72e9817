"""Print how many functions of `--as-written` have every instruction on the line of the original.

    python -m benchmarks.as_written.lines [--modules 60] [--seed 1] [--python 3.9]

Modules of the standard library are decompiled and laid out, and the text is compiled by their own Python. A function
counts where its instructions are the same, and each has the line that it has in the original. Beside it stands the
share of the modules' instructions that are on their lines, laid out and not, and how far the laid out modules are
proven.
"""

from __future__ import annotations

import argparse
import random
import sys
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.as_written.__main__ import SKIPPED, Version, compiled, library
from depyf.bytecode.code import Code
from depyf.bytecode.line_table import read_lines
from depyf.bytecode.versions.known import facts_of
from depyf.decompiler.module import decompile_module
from depyf.verify.level import Level

Row = tuple[bytes, list[int | None]]
"""The opcodes of a code object, and the line of each."""


@dataclass
class Count:
    """What was found so far; `plain` is what a text that is not laid out has."""

    functions: int = 0
    whole: int = 0
    instructions: int = 0
    placed: int = 0
    plain: int = 0
    levels: Counter[str] = field(default_factory=Counter)


def rows(code: Code) -> list[tuple[str, Row]]:
    """Return the name and the row of a code object and of all within it, outer ones first."""
    named_rows: list[tuple[str, Row]] = []
    work = [code]
    for current in work:  # It grows while it is gone through.
        lines = read_lines(current, facts_of(current.version, str(current)).lines)
        named_rows.append((current.name, (current.bytecode[::2], lines)))
        work += [const for const in current.consts if isinstance(const, Code)]
    return named_rows


def on_line(mine: Row, its: Row) -> int:
    """Return how many units of a code object have their line in another; none where the opcodes differ."""
    if mine[0] != its[0]:
        return 0
    return sum(line == other for line, other in zip(mine[1], its[1], strict=True))


def add(code: Code, plain: Code, laid: Code, level: Level, count: Count) -> None:
    """Count a module."""
    count.levels[level.name] += 1
    originals, others, ours = rows(code), rows(plain), rows(laid)
    is_parallel = len(originals) == len(others) == len(ours)
    for number, (_, row) in enumerate(originals):
        placed = on_line(row, ours[number][1]) if is_parallel else 0
        count.functions += 1
        count.whole += placed == len(row[0])
        count.instructions += len(row[0])
        count.placed += placed
        count.plain += on_line(row, others[number][1]) if is_parallel else 0


def main() -> None:
    """Print the measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modules", type=int, default=60, help="how many modules; 0 for all")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--python", default="{}.{}".format(*sys.version_info[:2]), help="whose library, e.g. 3.9")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    major, minor = map(int, arguments.python.split("."))
    version: Version = (major, minor)
    paths = [
        path for path in sorted(Path(library(version)).rglob("*.py")) if not any(part in str(path) for part in SKIPPED)
    ]
    random.Random(arguments.seed).shuffle(paths)
    count = Count()
    for path in paths[: arguments.modules or None]:
        try:
            code = compiled(path.read_text(encoding="utf-8"), version)
        except UnicodeDecodeError:
            continue
        if code is None:
            continue
        laid, plain = decompile_module(code, as_written=True), decompile_module(code)
        texts = [compiled(module.source, version) for module in (plain, laid)]
        if texts[0] is not None and texts[1] is not None:
            add(code, texts[0], texts[1], laid.level, count)
    share = 100 * count.whole / max(count.functions, 1)
    parts = [100 * number / max(count.instructions, 1) for number in (count.placed, count.plain)]
    print(f"functions with each instruction on its line: {count.whole} of {count.functions}, {share:.1f} %")
    print(f"instructions on their lines: {parts[0]:.1f} %, {parts[1]:.1f} % of a text that is not laid out")
    print(f"laid out modules: {dict(count.levels)}")


if __name__ == "__main__":
    main()
