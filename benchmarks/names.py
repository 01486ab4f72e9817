"""Names of variables that say nothing, and public functions whose docstrings leave parameters without a word.

    python -m benchmarks.names

Prints the share of vague names among the stores of each package, and the public functions with three or more parameters
whose docstrings name all of them. `tests/test_names_and_docstrings.py` holds both where they are.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bar import Bar, report

SOURCE = Path(__file__).resolve().parents[1] / "src" / "depyf"
VAGUE = {"found", "each", "told", "own", "made", "one"}
"""Names that say nothing of the value. The thing has a name: `break_site`, `entry`, `suffix`."""
MOST = 2
"""Per cent of the stores of a package that may be to vague names."""
MANY = 3
"""The fewest parameters that a docstring has to describe."""


def trees(folder: Path) -> Iterator[ast.Module]:
    """Yield the syntax trees of all Python files below a folder."""
    return (ast.parse(path.read_bytes()) for path in sorted(folder.rglob("*.py")))


def share_of_vague(trees: Iterator[ast.Module]) -> float:
    """Return the per cent of the stores to names that are vague."""
    stores = Counter(
        node.id in VAGUE
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    return 100 * stores[True] / max(1, stores.total())


def undescribed(tree: ast.Module) -> list[str]:
    """Return the public functions with three or more parameters whose docstrings do not name all of them.

    The docstring of a command is its help page, and the `help` of each option is a part of that page.
    """
    return [
        node.name
        for node in public_functions(tree)
        if not all(
            re.search(rf"\b{name}\b", ast.get_docstring(node) or "")
            for name in set(parameters_of(node)) - set(described_by_options(node))
        )
    ]


def described_by_options(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """Yield the parameters that the help page of a command describes.

    These are the options of `@click.option(..., help=...)`, and the arguments of `@click.argument` that the docstring
    names as the help page does: in capitals, or by their `metavar`.
    """
    for decorator in node.decorator_list:
        if not isinstance(decorator, ast.Call) or ast.unparse(decorator.func) not in ("click.option", "click.argument"):
            continue
        words = [str(argument.value) for argument in decorator.args if isinstance(argument, ast.Constant)]
        options = {keyword.arg: keyword.value for keyword in decorator.keywords}
        spelled = next((word for word in words if not word.startswith("-")), max(words, key=len))
        name = spelled.partition("/")[0].lstrip("-").replace("-", "_")
        metavar = options.get("metavar")
        shown = str(metavar.value) if isinstance(metavar, ast.Constant) else name.upper()
        is_named = re.search(rf"\b{shown.strip('[].')}\b", ast.get_docstring(node) or "") is not None
        if "help" in options or (decorator.func.attr == "argument" and is_named):  # type: ignore[attr-defined]
            yield name


def parameters_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Return the names of a function's parameters, without `self` and `cls`."""
    arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    return [argument.arg for argument in arguments if argument.arg not in ("self", "cls")]


def public_functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the public functions with at least `MANY` parameters."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not node.name.startswith("_"):
            if len(parameters_of(node)) >= MANY:
                yield node


def measure() -> list[Bar]:
    """Count the vague names of all packages, and the functions with undescribed parameters."""
    packages = sorted(path for path in SOURCE.iterdir() if (path / "__init__.py").exists())
    shares = {package.name: share_of_vague(trees(package)) for package in packages}
    for name, share in shares.items():
        print(f"{name:14} {share:4.1f} %")
    total = share_of_vague(trees(SOURCE))
    worst = f"at most {MOST} % in each package; the most is {max(shares.values()):.1f} %"
    functions = sum(1 for tree in trees(SOURCE) for _ in public_functions(tree))
    described = functions - sum(len(undescribed(tree)) for tree in trees(SOURCE))
    return [
        Bar("stores to vague names", f"{total:.1f} %", max(shares.values()) <= MOST, note=worst),
        Bar(
            "public functions with three or more parameters that describe them",
            f"{described} of {functions}",
            described == functions,
        ),
    ]


if __name__ == "__main__":
    report(measure())
