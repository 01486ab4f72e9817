"""Write every function of the standard library by dispatch, as code is that fits no statement, and prove it.

    python benchmarks/force_dispatch.py [--every N] [--shown N] [--levels]

The functions of the running Python are taken, nested ones with those around them and on their own. `--every N` takes
one function of N. Prints counts by level and the first reasons; exits with 1 when a function fails.
"""

from __future__ import annotations

import argparse
import collections
import os
import sys
import sysconfig
import types
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from depyf.decompiler.function import decompile_function  # noqa: E402
from depyf.errors import DecompilationError  # noqa: E402

SKIPPED = {"site-packages", "dist-packages", "test", "tests", "lib2to3"}
CO_OPTIMIZED = 1


def functions() -> Iterator[types.CodeType]:
    """Yield the code of each function of the running Python's library, lambdas and comprehensions left out."""
    root = Path(sysconfig.get_path("stdlib"))
    for path in sorted(root.rglob("*.py")):
        if SKIPPED.isdisjoint(path.relative_to(root).parts):
            try:
                work = [compile(path.read_bytes(), str(path), "exec", dont_inherit=True)]
            except (SyntaxError, ValueError, OSError):
                continue
            while work:
                code = work.pop()
                work.extend(const for const in code.co_consts if isinstance(const, types.CodeType))
                if code.co_flags & CO_OPTIMIZED and not code.co_name.startswith("<"):
                    yield code


def main() -> int:
    """Count the levels that are reached."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, help="take one function of N")
    parser.add_argument("--levels", action="store_true", help="leave scopes out")
    parser.add_argument("--shown", type=int, default=10, help="how many functions that are not proven are named")
    options = parser.parse_args()
    counts: collections.Counter[str] = collections.Counter()
    shown: list[str] = []
    for number, code in enumerate(functions()):
        if number % options.every:
            continue
        try:
            decompiled = decompile_function(
                code, without=frozenset({"build", "dispatch"} if options.levels else {"build"})
            )
            outcome, reason = decompiled.level.name, decompiled.reason
        except (DecompilationError, RecursionError, LookupError, AssertionError, TypeError, AttributeError) as error:
            outcome, reason = "FAILED", f"{type(error).__name__}: {error}"
        counts[outcome] += 1
        if outcome in ("FAILED", "UNPROVEN"):
            place = f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}"
            shown.append(f"{outcome} {place} {code.co_name}: {reason}")
    levels = ", ".join(f"{level} {counts[level]}" for level in sorted(counts))
    print(f"Python {sys.version.split()[0]}: {sum(counts.values())} functions, {levels}")
    print(*sorted(shown)[: options.shown], sep="\n")
    return bool(counts["FAILED"])


if __name__ == "__main__":
    sys.exit(main())
