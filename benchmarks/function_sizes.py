"""List the functions of the package that are longer, or branch more, than the house rules allow.

    python -m benchmarks.function_sizes [--lines 40] [--branches 15]

Branch points are McCabe's (1976): `if`, `for`, `while`, `except`, a `case`, a conditional expression, a condition of a
comprehension, and each further operand of `and` and `or`. Inner functions count on their own.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
Function = ast.FunctionDef | ast.AsyncFunctionDef
BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.IfExp, ast.match_case)


def own_nodes(function: Function) -> Iterator[ast.AST]:
    """Yield the nodes of a function, without those of functions and classes inside it."""
    work: list[ast.AST] = list(ast.iter_child_nodes(function))
    while work:
        node = work.pop()
        yield node
        if not isinstance(node, Function | ast.ClassDef):
            work.extend(ast.iter_child_nodes(node))


def branch_points(function: Function) -> int:
    """Return the number of places where a function's control flow divides."""
    count = 0
    for node in own_nodes(function):
        if isinstance(node, BRANCHES):
            count += 1
        elif isinstance(node, ast.BoolOp):
            count += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            count += len(node.ifs)
    return count


def code_lines(function: Function) -> int:
    """Return the number of lines of a function, its head and docstring left out."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return 0 if not body else (function.end_lineno or 0) - body[0].lineno + 1


@dataclass(frozen=True, slots=True)
class Size:
    """How long a function is, and how much it branches."""

    place: str
    lines: int
    branches: int

    def __str__(self) -> str:
        return f"{self.place}: {self.lines} lines, {self.branches} branch points"


def too_large(lines: int, branches: int) -> list[Size]:
    """Return the functions of the package that have more lines or more branch points than these."""
    sizes = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, Function):
                place = f"{path.relative_to(ROOT).as_posix()}:{node.lineno}: {node.name}"
                sizes.append(Size(place, code_lines(node), branch_points(node)))
    return [size for size in sizes if size.lines > lines or size.branches > branches]


def main() -> int:
    """Print the functions over the bounds; the exit code is 1 when there are any."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lines", type=int, default=40)
    parser.add_argument("--branches", type=int, default=15)
    given = parser.parse_args()
    large = too_large(given.lines, given.branches)
    print("\n".join(map(str, large)))
    long = sum(size.lines > given.lines for size in large)
    branched = sum(size.branches > given.branches for size in large)
    print(f"over {given.lines} lines: {long}; over {given.branches} branch points: {branched}")
    return 1 if large else 0


if __name__ == "__main__":
    sys.exit(main())
