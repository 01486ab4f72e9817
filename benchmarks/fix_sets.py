"""Does `depyf fix` find the edits that help only together?

    python -m benchmarks.fix_sets [--programs 40] [--random 20]

Each program is generated with two to four causes. In the first kind the breaks are in a loop of the function: torch
leaves the function out at the first, and shows the next only when that is gone. In the second kind every call makes
torch compile again for two reasons, and most have breaks as well. The judge of `benchmarks.fix` compares each edited
program with the original.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.fix import Forked, Judged, judge

BREAKS = {
    "break-print": 'print(f"at {n}")',
    "break-explicit": "torch._dynamo.graph_break()",
    "break-data-dependent-branch": "if x.sum() > 0:\n            x = x * 2",
    "break-item": "x = x * x.abs().max().item()",
    "break-deepcopy": "x = copy.deepcopy(x) + 1",
    "break-warning": 'warnings.warn("round")',
}
IN_A_LOOP = """# gone: {kinds}
import copy
import warnings

import torch

warnings.simplefilter("ignore")


def f(x):
    for n in range(2):
        {statements}
        x = x / 3
    return x.cos()


def make():
    return f


def inputs(generator):
    return (torch.randn({size}, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(5):
        step(*inputs(torch.Generator().manual_seed(seed)))
    print("done", copy.__name__, warnings.__name__)
"""
AGAIN = """# gone: {kinds}
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear({size}, {size})
        self.calls = 0

    def forward(self, x, scale):
        self.calls += 1
        x = scale(self.layer(x)) + self.calls
        {statements}
        return x.sin()


def make():
    return Net()


def inputs(generator):
    return torch.randn({size}, generator=generator), torch.sigmoid


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(11):
        {definition}
        step(torch.randn({size}, generator=torch.Generator().manual_seed(seed)), scale)
    print("done")
"""
DEFINITIONS = (
    "scale = lambda x: x * 2",
    "def scale(x):\n            return torch.relu(x)\n",
    "scale = lambda x: torch.tanh(x) / 2",
    "def scale(x):\n            y = x + 1\n            return y * x\n",
)
WITH = ("break-print", "break-explicit", "break-data-dependent-branch", "break-item")


def programs() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each program, always the same ones."""
    loops = [kinds for count in (2, 3, 4) for kinds in itertools.combinations(BREAKS, count)]
    for number, kinds in enumerate(loops[:: len(loops) // 25 + 1] + loops[1 :: len(loops) // 12]):
        yield f"loop_{number}", _in_a_loop(kinds, 3 + number)
    again = [kinds for count in (0, 1, 2) for kinds in itertools.combinations(WITH, count)]
    for number, kinds in enumerate(again):
        statements = "\n        ".join(BREAKS[kind].replace("{n}", "1") for kind in kinds) or "x = x * 1"
        definition = DEFINITIONS[number % len(DEFINITIONS)]
        yield (
            f"again_{number}",
            AGAIN.format(
                kinds=" ".join(("counter", "argument-function", *kinds)),
                statements=statements,
                definition=definition,
                size=3 + number,
            ),
        )


def _in_a_loop(kinds: tuple[str, ...], size: int) -> str:
    statements = "\n        ".join(BREAKS[kind] for kind in kinds)
    return IN_A_LOOP.format(kinds=" ".join(kinds), statements=statements, size=size)


def main() -> int:
    """Print the numbers; the exit code is 1 if less than nine of ten sets are found or a result is another."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--programs", type=int, default=40, metavar="N", help="the first N programs, both kinds in turn"
    )
    parser.add_argument("--random", type=int, default=20, metavar="N", help="random inputs of the judge")
    options = parser.parse_args()
    everything = list(programs())
    chosen = sorted(everything, key=lambda named_program: int(named_program[0].rpartition("_")[2]))[: options.programs]
    judged = []
    fixer = Forked()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in chosen:
            program = Path(folder) / f"{name}_source.py"
            program.write_text(text, encoding="utf-8")
            judged.append(_shown(judge(program, Path(folder), options.random, fixer)))
    fixer.end()
    whole = [program for program in judged if not program.error and not program.remaining and program.is_changed]
    wrong = [program for program in judged if program.different]
    print(f"sets that were found: {len(whole)} of {len(judged)}")
    print(f"patches that change a result on random inputs: {len(wrong)} of {len(judged)}")
    return int(10 * len(whole) < 9 * len(judged) or bool(wrong))


def _shown(judged: Judged) -> Judged:
    words = judged.error or judged.told.get("effect") or judged.told.get("ended") or "no edit"
    remaining = f"; remains: {', '.join(judged.remaining)}" if judged.remaining else ""
    different = f"; DIFFERS: {judged.different[0]}" if judged.different else ""
    kept = sum(edit["kept"] for edit in judged.told.get("tried", ()))
    print(f"{judged.name}: {kept} edits; {words}{remaining}{different}", flush=True)
    return judged


if __name__ == "__main__":
    sys.exit(main())
