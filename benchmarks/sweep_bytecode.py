"""Normalise every code object of a standard library and check the stack depth at every point.

    python benchmarks/sweep_bytecode.py [--every N] [PYTHON ...]

For each interpreter given: it compiles its standard library, and the `.pyc` files are read here.
Without one: the standard library of the running Python, read from live code objects.
`--every N` takes one file of N. Prints counts; exits with 1 when a code object fails.
"""

from __future__ import annotations

import argparse
import collections
import subprocess
import sys
import sysconfig
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

from depyf.bytecode.code import Code
from depyf.bytecode.depths import stack_depths
from depyf.bytecode.normalise import normalise
from depyf.bytecode.pyc import load
from depyf.bytecode.reader import read
from depyf.errors import DecompilationError

COMPILE = """
import os, py_compile, sys, sysconfig, warnings
warnings.simplefilter("ignore")
every, target = int(sys.argv[1]), sys.argv[2]
paths = []
for folder, folders, files in os.walk(sysconfig.get_path("stdlib")):
    folders[:] = sorted(set(folders) - {"site-packages", "dist-packages", "lib2to3"})
    paths += [os.path.join(folder, file) for file in sorted(files) if file.endswith(".py")]
for number, path in enumerate(paths[::every]):
    try:
        py_compile.compile(path, os.path.join(target, "%06d.pyc" % number), doraise=True)
    except (py_compile.PyCompileError, OSError, SyntaxError, ValueError, RecursionError):
        pass
"""
SHOWN = 5


def live(every: int) -> Iterator[Code]:
    """Yield the module code of each file of the running Python's library that compiles."""
    paths = sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py"))
    for path in [path for path in paths if "site-packages" not in path.parts][::every]:
        try:
            module = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            continue
        yield read(module)


def compiled(python: str, every: int) -> Iterator[Code]:
    """Yield the module code of each file of another interpreter's library."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-c", COMPILE, str(every), folder], check=True, capture_output=True)
        for path in sorted(Path(folder).iterdir()):
            yield load(path.read_bytes(), source=path.name)


def with_nested(code: Code) -> Iterator[Code]:
    """Yield a code object and all within."""
    stack = [code]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(const for const in current.consts if isinstance(const, Code))


def sweep(modules: Iterator[Code]) -> collections.Counter[str]:
    """Check all modules; return the counts."""
    counts: collections.Counter[str] = collections.Counter(failures=0)
    operations: collections.Counter[str] = collections.Counter()
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
                if counts["failures"] <= SHOWN:
                    print(f"  {error}")
                continue
            counts["instructions"] += len(depths)
            counts["unreachable"] += depths.count(-1)
            operations.update(instruction.op for instruction in listing.instructions)
    print("  rarest operations:", *(f"{name} {count}" for name, count in operations.most_common()[:-13:-1]))
    return counts


def main() -> int:
    """Run for each interpreter."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--every", type=int, default=1, metavar="N")
    parser.add_argument("pythons", nargs="*", metavar="PYTHON")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sources = {python: compiled(python, options.every) for python in options.pythons}
    failures = 0
    for python, modules in (sources or {sys.executable: live(options.every)}).items():
        counts = sweep(modules)
        print(python, *(f"{name} {count}" for name, count in counts.items()), sep="  ", flush=True)
        failures += counts["failures"]
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
