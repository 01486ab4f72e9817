"""Normalise every code object of a standard library and check the stack depth at every point.

    python tools/sweep_bytecode.py [folder]

compiles each `.py` file of the folder (default: the standard library of the running Python).
Prints counts; exits with 1 when a code object fails.
"""

from __future__ import annotations

import collections
import sys
import sysconfig
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

from depyf.bytecode.code import Code
from depyf.bytecode.depths import stack_depths
from depyf.bytecode.normalise import normalise
from depyf.bytecode.reader import read
from depyf.errors import DecompilationError


def sources(folder: Path) -> Iterator[Code]:
    """Yield the module code of each file that compiles."""
    for path in sorted(folder.rglob("*.py")):
        if "site-packages" in path.parts:
            continue
        try:
            module = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            continue
        yield read(module)


def with_nested(code: Code) -> Iterator[Code]:
    """Yield a code object and all within."""
    stack = [code]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(const for const in current.consts if isinstance(const, Code))


def sweep(modules: Iterator[Code]) -> int:
    """Check all modules; return the number of failures."""
    counts: collections.Counter[str] = collections.Counter()
    operations: collections.Counter[str] = collections.Counter()
    failures: collections.Counter[str] = collections.Counter()
    for module in modules:
        counts["modules"] += 1
        for code in with_nested(module):
            counts["code objects"] += 1
            try:
                start = time.process_time()
                listing = normalise(code)
                counts["microseconds"] += int((time.process_time() - start) * 1e6)
                depths = stack_depths(listing)
            except DecompilationError as error:
                counts["failures"] += 1
                failures[error.reason] += 1
                if failures[error.reason] <= 3:
                    print(error)
                continue
            counts["instructions"] += len(depths)
            counts["unreachable"] += depths.count(-1)
            operations.update(instruction.op for instruction in listing.instructions)
    print(dict(counts))
    print("rare operations:", operations.most_common()[:-25:-1])
    return counts["failures"]


def main(arguments: list[str]) -> int:
    """Run on the folder given."""
    warnings.simplefilter("ignore")
    folder = Path(arguments[0] if arguments else sysconfig.get_path("stdlib"))
    return 1 if sweep(sources(folder)) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
