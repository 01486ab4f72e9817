"""The cost of `depyf run --bits`: the time of a step, and the peak of memory, with hashes and without.

    python -m benchmarks.bits_cost                 # all programs
    python -m benchmarks.bits_cost training        # one of them

Steps with and without hashes alternate in one process; the ratio is the median of the ratios of neighbours. The peak is
that of the resident memory during steps, in a process each.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import torch

from benchmarks.bar import Bar, report
from depyf.torch.bits.recorder import BitsRecorder, Command

STEPS, WARM = 15, 3
MOST_TIME, MOST_MEMORY = 3.0, 1.10
Step = Callable[[], object]


def training() -> Step:
    """Return a training step of a transformer: a layer of width 256, 8 sequences of 128."""
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
    x = torch.randn(8, 128, 256)

    def step(x: torch.Tensor) -> torch.Tensor:
        return model(x).square().mean()

    compiled = torch.compile(_with_new_code(step))
    return lambda: compiled(x).backward()


def inference() -> Step:
    """Return a forward of an MLP with large weights and one row: it is bound by memory."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(*(torch.nn.Linear(2048, 2048) for _ in range(4)))
    x = torch.randn(1, 2048)

    def step(x: torch.Tensor) -> torch.Tensor:
        return torch.relu(model(x))

    compiled = torch.no_grad()(torch.compile(_with_new_code(step)))
    return lambda: compiled(x)


def pointwise() -> Step:
    """Return a chain of operations on 4 million values, which Inductor fuses into one kernel."""
    x = torch.randn(2048, 2048)

    def step(x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(torch.nn.functional.gelu(x * 2.0) + x, -1)

    compiled = torch.compile(_with_new_code(step))
    return lambda: compiled(x)


def small() -> Step:
    """Return a training step of an MLP so small that the calls of its kernels take most of the time."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64))
    x = torch.randn(32, 64)

    def step(x: torch.Tensor) -> torch.Tensor:
        return model(x).square().mean()

    compiled = torch.compile(_with_new_code(step))
    return lambda: compiled(x).backward()


PROGRAMS = {program.__name__: program for program in (training, inference, pointwise, small)}


def _with_new_code(function: Callable[..., object]) -> Callable[..., object]:
    """Give a function a code object of its own: Dynamo keeps what it compiled by code object."""
    function.__code__ = function.__code__.replace()
    return function


def time_ratio(program: Callable[[], Step], folder: Path) -> float:
    """Return the median ratio of steps with hashes to their neighbours without."""
    plain = program()
    _seconds(plain)
    recorder = BitsRecorder(folder, Command())
    recorder.begin()
    try:
        recorded = program()
        for _ in range(WARM):
            _seconds(plain), _seconds(recorded)
        ratios = [_seconds(recorded) / _seconds(plain) for _ in range(STEPS)]
    finally:
        recorder.end()
    assert (folder / "bits.jsonl").read_text().count('"kind":"call"') >= STEPS, "nothing was recorded"
    return median(ratios)


def _seconds(step: Step) -> float:
    began = time.perf_counter()
    step()
    return time.perf_counter() - began


def peak(name: str, *, recorded: bool, folder: Path) -> int:
    """Return the peak of the resident memory during steps, in bytes, of a process of its own."""
    command = [sys.executable, "-m", "benchmarks.bits_cost", "--child", name, str(folder) if recorded else ""]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1])


def child(name: str, folder: str) -> None:
    """Run steps, and print the peak of memory."""
    recorder = BitsRecorder(Path(folder), Command()) if folder else None
    if recorder is not None:
        recorder.begin()
    step = PROGRAMS[name]()
    for _ in range(WARM):
        step()
    Path("/proc/self/clear_refs").write_text("5")  # Linux forgets the peak.
    for _ in range(STEPS):
        step()
    status = Path("/proc/self/status").read_text()
    print(next(int(row.split()[1]) * 1024 for row in status.splitlines() if row.startswith("VmHWM")))


def main() -> None:
    """Print the bars."""
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
        return
    bars = []
    for name in sys.argv[1:] or PROGRAMS:
        with tempfile.TemporaryDirectory() as scratch:
            ratio = time_ratio(PROGRAMS[name], Path(scratch))
            plain = peak(name, recorded=False, folder=Path(scratch))
            growth = peak(name, recorded=True, folder=Path(scratch)) / plain
        bars.append(Bar(f"bits: time of a step of {name}", f"{100 * ratio:.0f} %", ratio <= MOST_TIME))
        met = growth <= MOST_MEMORY
        bars.append(Bar(f"bits: peak memory of {name}", f"{100 * growth:.0f} %", met, note=f"of {plain >> 20} MiB"))
    report(bars)


if __name__ == "__main__":
    main()
