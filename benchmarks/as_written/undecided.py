"""Which functions come back with another tree that compiles to the identical code object: it cannot tell them apart.

Our text is laid out on the lines of the original, compiled by the same Python, and held against the author's code: all
of it, tables of lines and columns included. Where a line could not be kept, nothing is claimed.
"""

from __future__ import annotations

import ast
from collections import defaultdict

from benchmarks.as_written.trees import functions, held
from depyf.bytecode.code import Code
from depyf.bytecode.constants import key
from depyf.decompiler.module import decompile_module

HELD = (
    "name",
    "first_line",
    "argcount",
    "posonly_count",
    "kwonly_count",
    "flags",
    "varnames",
    "names",
    "cellvars",
    "freevars",
    "bytecode",
    "line_table",
    "exception_table",
)
"""What two code objects have to share, next to their constants."""


def laid_out(code: Code) -> str:
    """Return the source of a module on the lines of the original."""
    return decompile_module(code, as_written=True).source


def undecided(written: str, code: Code, laid: str, again: Code) -> set[tuple[str, int]]:
    """Return the names and numbers of functions whose laid out text has another tree and the identical code."""
    trees = [functions(ast.parse(text)) for text in (written, laid)]
    codes = [_functions(code_object) for code_object in (code, again)]
    names_of_functions: set[tuple[str, int]] = set()
    for name, definitions in trees[0].items():
        others, mine, its = trees[1].get(name, []), codes[0].get(name, []), codes[1].get(name, [])
        if not len(definitions) == len(others) == len(mine) == len(its):
            continue
        for number, (definition, other) in enumerate(zip(definitions, others)):
            differs = ast.dump(held(definition)) != ast.dump(held(other))
            if differs and _is_identical(mine[number], its[number]):
                names_of_functions.add((name, number))
    return names_of_functions


def _functions(module: Code) -> dict[str, list[Code]]:
    """Return the code objects of functions by their qualified names, in the order of the source."""
    by_name: dict[str, list[Code]] = defaultdict(list)
    work = [(module, "")]
    while work:
        outer, name = work.pop()
        for const in outer.consts:
            if not isinstance(const, Code):
                continue
            inner = name if const.name.startswith("<") else f"{name}{const.name}."
            if inner != name:
                by_name[inner[:-1]].append(const)
            work.append((const, inner))
    return {name: sorted(codes, key=lambda code: code.first_line) for name, codes in by_name.items()}


def _is_identical(first: Code, other: Code) -> bool:
    """Return whether two code objects are the same in all that they hold, nested ones included."""
    work: list[tuple[object, object]] = [(first, other)]
    while work:
        left, right = work.pop()
        if isinstance(left, Code) and isinstance(right, Code):
            if any(getattr(left, name) != getattr(right, name) for name in HELD):
                return False
            if len(left.consts) != len(right.consts):
                return False
            work += zip(left.consts, right.consts)
        elif isinstance(left, Code) or isinstance(right, Code) or key(left) != key(right):
            return False
    return True
