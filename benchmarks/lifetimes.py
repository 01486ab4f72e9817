"""What it costs to hold that nothing lives longer in proven source that runs in the place of Dynamo's code.

    python -m benchmarks.lifetimes [PROGRAM ...]

The code that Dynamo makes of our programs is decompiled with that demand and without it. Printed are how many code
objects are proven, how many of them hold values longer as their text stands, and so let their variables go where they
read them for the last time, how many instructions that adds, and the processor time of both.
"""

from __future__ import annotations

import argparse
import dataclasses
import tempfile
import time
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.dynamo_code import MODULES, compared
from depyf.decompiler import api
from depyf.verify.level import Level


@dataclass
class Cost:
    """Sums over all code objects; seconds are of the processor."""

    codes: int = 0
    proven: int = 0
    in_place: int = 0
    let_go: int = 0
    instructions: int = 0
    added: int = 0
    seconds: float = 0.0
    seconds_in_place: float = 0.0

    def add(self, code: types.CodeType, **how: Any) -> api.Decompiled:  # noqa: ANN401  (as it is called)
        """Decompile a code object in both ways, count, and return what holds nothing longer."""
        free = dataclasses.replace(how.pop("assumptions"), in_place=False)
        begun = time.process_time()
        as_read = DECOMPILE(code, assumptions=free, **how)
        middle = time.process_time()
        in_place = DECOMPILE(code, assumptions=dataclasses.replace(free, in_place=True), **how)
        self.seconds += middle - begun
        self.seconds_in_place += time.process_time() - middle
        self.codes += 1
        self.proven += as_read.level is not Level.UNPROVEN
        self.in_place += in_place.level is not Level.UNPROVEN
        self.let_go += in_place.lets_go
        if as_read.compiled is not None and in_place.compiled is not None:
            self.instructions += len(as_read.compiled.co_code) // 2
            self.added += (len(in_place.compiled.co_code) - len(as_read.compiled.co_code)) // 2
        return in_place


DECOMPILE = api.decompile_code


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", help="only these")
    wanted = parser.parse_args().programs
    cost = Cost()
    api.decompile_code = cost.add
    with tempfile.TemporaryDirectory() as directory:
        for module in MODULES:
            for _ in compared(module, "eager", Path(directory), wanted):
                pass
    print(f"code objects: {cost.codes}, proven {cost.proven}, proven to hold nothing longer {cost.in_place}")
    print(f"let their variables go: {cost.let_go}; code units {cost.instructions}, and {cost.added} more")
    print(f"seconds: {cost.seconds:.2f} without the demand, {cost.seconds_in_place:.2f} with it")


if __name__ == "__main__":
    main()
