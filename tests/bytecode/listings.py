"""Listings of small sources, for tests: of the running Python, or of any other on the machine."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Listing
from depyf.bytecode.normalise import normalise
from depyf.bytecode.pyc import load
from tests import interpreters

COMPILE = """
import py_compile, sys
py_compile.compile(sys.argv[1], sys.argv[2], doraise=True, optimize=int((sys.argv[3:] or [0])[0]))
"""


@functools.cache
def compiled(source: str, version: tuple[int, int], optimize: int = 0) -> Code:
    """Return the module code of a source as an interpreter compiles it; skips the test without that.

    optimize: 1 for `-O`, 2 for `-OO`.
    """
    python = interpreters.need(version)
    with tempfile.TemporaryDirectory() as folder:
        path, target = Path(folder) / "source.py", Path(folder) / "source.pyc"
        path.write_text(source, encoding="utf-8")
        interpreters.run(python, COMPILE, str(path), str(target), str(optimize))
        return load(target.read_bytes())


def inner(code: Code, name: str) -> Code:
    """Return the nested code object of this name."""
    stack = [code]
    while stack:
        current = stack.pop()
        if current.name == name:
            return current
        stack.extend(const for const in current.consts if isinstance(const, Code))
    raise AssertionError(f"no {name} in {code}")


def function(source: str, version: tuple[int, int]) -> Listing:
    """Return the listing of the function `f` that a source defines."""
    return normalise(inner(compiled(source, version), "f"))


def shown(listing: Listing) -> list[str]:
    """Write each instruction in one string: operation, argument, target, handler."""
    lines = []
    for instruction in listing.instructions:
        parts = [instruction.op]
        if isinstance(instruction.arg, Code):
            parts.append(f"<{instruction.arg.name}>")
        elif instruction.arg is not None or instruction.op == "CONST":
            parts.append(str(instruction.arg))
        if instruction.target >= 0:
            parts.append(f"-> {instruction.target}")
        if instruction.handler >= 0:
            parts.append(f"!{instruction.handler}")
        lines.append(" ".join(parts))
    return lines


def operations(listing: Listing) -> list[str]:
    """Return the names of the operations, in order."""
    return [instruction.op for instruction in listing.instructions]
