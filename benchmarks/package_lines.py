"""Print the lines of code of each package of `src/depyf`, now and at an earlier commit.

    python -m benchmarks.package_lines [--since COMMIT]

A line counts if a token of code stands on it: blank lines, comments and docstrings do not.
"""

from __future__ import annotations

import argparse
import ast
import io
import subprocess
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = "src/depyf"
SILENT = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def code_lines(text: str) -> int:
    """Return the number of lines with code in a source."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for stmt in ast.walk(ast.parse(text)):
        if isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant) and isinstance(stmt.value.value, str):
            lines.difference_update(range(stmt.lineno, (stmt.end_lineno or stmt.lineno) + 1))
    return len(lines)


def package(path: str) -> str:
    """Return the package of a file; the parts of large packages stand alone.

    >>> package("src/depyf/decompiler/structure/build.py"), package("src/depyf/api.py")
    ('decompiler/structure', '.')
    """
    parts = path.removeprefix(f"{SOURCE}/").split("/")[:-1]
    return "/".join(parts[:2]) if parts[:1] == ["decompiler"] else "/".join(parts[:1]) or "."


def now() -> Counter[str]:
    """Return the lines by package of the working tree."""
    lines: Counter[str] = Counter()
    for path in (ROOT / SOURCE).rglob("*.py"):
        lines[package(path.relative_to(ROOT).as_posix())] += code_lines(path.read_text(encoding="utf-8"))
    return lines


def at(commit: str) -> Counter[str]:
    """Return the lines by package of a commit."""
    lines: Counter[str] = Counter()
    listed = _git("ls-tree", "-r", "--name-only", commit, SOURCE)
    for path in listed.splitlines():
        if path.endswith(".py"):
            lines[package(path)] += code_lines(_git("show", f"{commit}:{path}"))
    return lines


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def main() -> None:
    """Print a row for each package, and the sum."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--since", metavar="COMMIT", help="also print the lines at this commit")
    since = parser.parse_args().since
    today = now()
    before = at(since) if since is not None else None
    for name in sorted({*today, *(before or ())}):
        print(f"{today[name]:7}" + (f" {before[name]:7}" if before is not None else ""), name)
    total = f"{sum(today.values())} lines of code"
    print(total if before is None else f"{total}, {sum(before.values())} at {since}")


if __name__ == "__main__":
    main()
