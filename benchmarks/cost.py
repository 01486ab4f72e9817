"""What capture costs: a cold compile of a 12-layer transformer, forward and backward, and a call when it is compiled.

Each cold compile is a process of its own with caches of its own: without anything, with `prepare_debug`, with
`TORCH_TRACE` and with `TORCH_COMPILE_DEBUG`, in turns, and each round gives a ratio to the run without. Seconds are the
processor's, those of the C++ compiler among them, as others use the machine too. `first` takes in the imports of depyf,
which is compiled to bytecode as it is where pip has installed it. Each run proves everything, unless `again` gives it
the proofs that an earlier run has kept.
"""

from __future__ import annotations

import argparse
import compileall
import contextlib
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bar import Bar, report
from depyf.model.variables import PROOFS_VARIABLE

LAYERS = 12
PLAIN, OURS, TRACE, DEBUG = "without", "prepare_debug", "TORCH_TRACE", "TORCH_COMPILE_DEBUG"
AIMS = {"inductor": 1.01, "eager": 1.04}
FIRST_AIM = 1.15
"""With eager, where depyf is imported, too."""
STEADY_AIM = 1.02
BATCHES, CALLS = 41, {"toy": 300, "transformer": 3}
IFS = (4, 8, 16, 32)
LINEAR = 1.1
"""Exponent of growth from which on it is not called linear."""


@dataclass(frozen=True)
class Run:
    """What a cold compile took: seconds of the processor, and MB of memory at most."""

    seconds: float
    memory: float


def _one_run(backend: str, directory: str, *, first: bool) -> Run:
    import torch

    import depyf

    model, x = transformer(), torch.randn(2, 16, 64)
    if not first:
        with tempfile.TemporaryDirectory() as scratch, depyf.prepare_debug(scratch):
            torch.compile(lambda x: x * 2, backend="eager")(torch.ones(3))
    # What Dynamo and the backend import when they are first used is none of a compile's time.
    torch.compile(lambda x: x + 1, backend=backend)(torch.ones(3))
    began = _seconds()
    with depyf.prepare_debug(directory) if directory else contextlib.nullcontext():
        torch.compile(model, backend=backend)(x).sum().backward()
    return Run(_seconds() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def transformer() -> Callable[..., object]:
    """Return an encoder of 12 layers, small in all else."""
    import torch

    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    encoder: Callable[..., object] = torch.nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False).train()
    return encoder


def _seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _in_a_process_of_its_own(backend: str, mode: str, *, first: bool, proofs: str = "") -> Run:
    with tempfile.TemporaryDirectory() as scratch:
        environment = os.environ | {"TORCHINDUCTOR_COMPILE_THREADS": "1", "OMP_NUM_THREADS": "1"}
        environment["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(scratch, "cache")
        environment[PROOFS_VARIABLE] = proofs or os.path.join(scratch, "proofs")
        if mode == TRACE:
            environment["TORCH_TRACE"] = os.path.join(scratch, "trace")
        if mode == DEBUG:
            environment |= {"TORCH_COMPILE_DEBUG": "1", "TORCH_COMPILE_DEBUG_DIR": os.path.join(scratch, "debug")}
        directory = os.path.join(scratch, "dump") if mode == OURS else ""
        command = [sys.executable, "-m", "benchmarks.cost", "--run", backend, directory]
        command += ["--first"] if first else []
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    seconds, memory = map(float, done.stdout.split()[-2:])
    return Run(seconds, memory)


def cold(
    backend: str, rounds: int, beside: tuple[str, ...] = (TRACE, DEBUG), *, first: bool = False, proofs: str = ""
) -> list[Bar]:
    """Compile cold with each mode, in turns, `rounds` times.

    first: with the imports of depyf.
    proofs: a folder for the proofs of all runs, which an additional run fills; "" for a folder of each run.
    """
    if proofs:
        _in_a_process_of_its_own(backend, OURS, first=first, proofs=proofs)
    modes = [PLAIN, OURS, *beside]
    ratios: dict[str, list[float]] = {mode: [] for mode in modes[1:]}
    added: list[float] = []
    for number in range(rounds):
        # Who comes first changes: the first finds less of the compiler's files in memory.
        start = number % len(modes)
        order = modes[start:] + modes[:start]
        taken = {mode: _in_a_process_of_its_own(backend, mode, first=first, proofs=proofs) for mode in order}
        for mode, of_mode in ratios.items():
            of_mode.append(taken[mode].seconds / taken[PLAIN].seconds)
        added.append(taken[OURS].memory - taken[PLAIN].memory)
        print(f"{backend}, round {number}: " + ", ".join(f"{m} {taken[m].seconds:.1f} s" for m in modes), flush=True)
    others = "".join(f"; {mode} {statistics.median(ratios[mode]):.3f}" for mode in beside)
    ratio, aim = statistics.median(ratios[OURS]), FIRST_AIM if first else AIMS[backend]
    ratios_in_words = ", ".join(f"{ratio_of_round:.2f}" for ratio_of_round in ratios[OURS])
    what = f"{backend}: ratio of cold compiles{' with the first import' if first else ''}"
    what += ", second run" if proofs else ""
    return [
        Bar(what, f"{ratio:.3f}", ratio <= aim, note=f"aim {aim}; {ratios_in_words}{others}"),
        Bar(f"{backend}: memory that capture adds at the peak", f"{statistics.median(added):.0f} MB", True),
    ]


def _per_call(function: Callable[[], object], calls: int) -> float:
    began = time.process_time()
    for _ in range(calls):
        function()
    return (time.process_time() - began) / calls


def steady(name: str) -> list[Bar]:
    """Time calls of a compiled program: of one compiled without depyf, of one inside of its context, and after it."""
    import torch

    import depyf
    from examples.toy_example import toy_example

    torch.set_num_threads(1)
    a, b, x = torch.randn(10), torch.rand(10), torch.randn(2, 16, 64)

    def made() -> Callable[[], object]:
        torch._dynamo.reset()
        if name == "toy":
            compiled = torch.compile(toy_example, backend="eager")
            return lambda: compiled(a, b)
        model = torch.compile(transformer(), backend="eager")
        return lambda: model(x)

    calls = CALLS[name]
    inside, after = [], []
    with tempfile.TemporaryDirectory() as scratch, torch.no_grad():
        for number in range(3):
            plain = made()
            plain()
            without = [_per_call(plain, calls) for _ in range(BATCHES)]
            with depyf.prepare_debug(Path(scratch) / str(number)):
                ours = made()
                ours()
                within = [_per_call(ours, calls) for _ in range(BATCHES)]
            behind = [_per_call(ours, calls) for _ in range(BATCHES)]
            # What disturbs a batch makes it longer, never shorter.
            inside.append(min(within) / min(without))
            after.append(min(behind) / min(without))
    return [
        _steady_bar(f"{name}: ratio of a call inside the context", inside),
        _steady_bar(f"{name}: ratio of a call after the context", after),
    ]


def _steady_bar(what: str, ratios: list[float]) -> Bar:
    ratio = statistics.median(ratios)
    ratios_in_words = ", ".join(f"{ratio_of_round:.2f}" for ratio_of_round in ratios)
    return Bar(what, f"{ratio:.3f}", ratio <= STEADY_AIM, note=f"aim 1.00; {ratios_in_words}")


def _ifs(count: int) -> str:
    lines = [f"    if x.sum() > {-number}:\n        x = x + {number}\n" for number in range(count)]
    return "def ifs(x):\n" + "".join(lines) + "    return x\n"


def sizes() -> Iterator[tuple[int, int]]:
    """Yield for numbers of tensor `if`s the number of bytes of the full code, with both ways of each compiled."""
    import torch

    import depyf

    for count in IFS:
        torch._dynamo.reset()
        with tempfile.TemporaryDirectory() as scratch:
            source = Path(scratch) / "ifs.py"
            source.write_text(_ifs(count))
            names: dict[str, Callable[..., object]] = {}
            exec(compile(source.read_text(), str(source), "exec"), names)
            with depyf.prepare_debug(Path(scratch) / "dump"):
                compiled = torch.compile(names["ifs"], backend="eager")
                for value in (1.0, -1000.0):
                    compiled(torch.full((3,), value))
            yield count, (Path(scratch) / "dump" / "full_code_for_ifs_0.py").stat().st_size


def growth() -> list[Bar]:
    """Tell how the size of the full code grows."""
    import math

    measured_sizes = list(sizes())
    (first, small), (last, large) = measured_sizes[-2:]
    exponent = math.log(large / small) / math.log(last / first)
    text = ", ".join(f"{count} ifs {size} bytes" for count, size in measured_sizes)
    return [Bar("size of the full code, exponent of growth", f"{exponent:.2f}", exponent <= LINEAR, note=text)]


def main() -> None:
    """Print the bars."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", action="append", choices=list(AIMS), help="only this one; may be given again")
    parser.add_argument("--rounds", type=int, default=5, help="cold compiles of each kind")
    parser.add_argument("--only", choices=("cold", "steady", "growth"), help="only this part")
    parser.add_argument("--alone", action="store_true", help="of cold compiles, leave out torch's own ways to look")
    parser.add_argument("--first", action="store_true", help="of cold compiles, take in the imports of depyf")
    parser.add_argument("--again", action="store_true", help="of cold compiles, measure the second run of a script")
    parser.add_argument("--run", nargs=2, metavar=("BACKEND", "DIRECTORY"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        taken = _one_run(*options.run, first=options.first)
        print(taken.seconds, taken.memory)
        return
    bars: list[Bar] = []
    if options.only in (None, "growth"):
        bars += growth()
    if options.only in (None, "steady"):
        bars += [bar for name in CALLS for bar in steady(name)]
    if options.only in (None, "cold"):
        beside = () if options.alone else (TRACE, DEBUG)
        compileall.compile_dir(str(Path(__file__).parents[1] / "src" / "depyf"), quiet=1)
        with tempfile.TemporaryDirectory() as proofs:
            for backend in options.backend or AIMS:
                shared = proofs if options.again else ""
                bars += cold(backend, options.rounds, beside, first=options.first, proofs=shared)
    report(bars)


if __name__ == "__main__":
    main()
