"""What the dump shows of some programs, as files that a reader can enjoy and a test holds.

    python -m scripts.golden            # writes those of the running torch again

They lie in `tests/torch/golden`, in a folder for each torch and Python: Dynamo writes other code in each. The counters
of the process in names are counted anew for each file.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path

import torch
from torch._dynamo import convert_frame

import depyf
from benchmarks.dynamo_code import MODULES, load, run
from depyf.model.run import Transformed

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "torch" / "golden"
NAMES = (
    *("toy", "while_with_break", "breaks_in_no_grad", "breaks_in_nested_with", "breaks_two_calls_down"),
    *("many_effects_at_once", "swaps", "writes_a_cell_after_a_break", "closure_over_a_parameter"),
    *("a_generator_over_a_break", "keyword_only", "breaks_between_arguments"),
)
COUNTED = re.compile(r"(__compiled_fn_|__resume_at_\d+_|context_manager_\d+_|___\w+_X_c)(\d+)")


def folder() -> Path:
    """Return the folder of the running torch and Python."""
    release = ".".join(torch.__version__.split(".")[:2])
    return FOLDER / "torch-{}-python-{}.{}".format(release, *sys.version_info[:2])


def rendered(name: str) -> str:
    """Return what the dump shows of a program: the source of each code object that Dynamo first made of a function."""
    programs = {program.name: program for module in MODULES for program in load(module)}
    # A reset of Dynamo counts its frames anew since 2.3 only.
    convert_frame.FRAME_COUNTER = 0
    convert_frame.FRAME_COMPILE_COUNTER.clear()
    with tempfile.TemporaryDirectory() as scratch:
        with depyf.prepare_debug(scratch) as session:
            run(programs[name], "eager")
        compiles = [compiled for _, compiled in session.compiles() if isinstance(compiled.transformed, Transformed)]
        files = [
            compiled.transformed.file
            for compiled in compiles
            if isinstance(compiled.transformed, Transformed) and compiled.id.compile == 0
        ]
        text = "\n\n".join((Path(scratch) / file).read_text(encoding="utf-8") for file in files)
    return counted_anew(text)


def counted_anew(text: str) -> str:
    """Return a text with the counters in its names counted from 1, in the order in which they are there."""
    numbers: dict[str, int] = {}

    def number(match: re.Match[str]) -> str:
        return f"{match[1]}{numbers.setdefault(match[2], len(numbers) + 1)}"

    return COUNTED.sub(number, text)


def main() -> None:
    """Write the files."""
    target = folder()
    target.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        (target / f"{name}.txt").write_text(rendered(name), encoding="utf-8")
    print(f"{len(NAMES)} files in {target.relative_to(FOLDER.parent)}")


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    main()
