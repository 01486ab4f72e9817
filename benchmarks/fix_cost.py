"""How long does `depyf fix` take, in plain runs of the program?

    python -m benchmarks.fix_cost [--findings 5] [--steps 60]

A training program with one to five findings, under Inductor, in a fresh cache: first as `python program.py`, then by
`depyf fix program.py`. It prints the ratio of the seconds and of the processor's seconds, which other processes on the
machine change less.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = """import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(64, 64) for _ in range(4))

    def forward(self, x):
        for layer in self.layers:
            x = x + torch.relu(layer(x))
        {statements}
        return x


model = Net()
step = torch.compile(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for number in range({steps}):
    x = torch.randn(32, 64, generator=torch.Generator().manual_seed(number))
    loss = step(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print("done")
"""
CAUSES = (
    'print("forward")',
    "if x.mean() > 0:\n            x = x * 0.5",
    "torch._dynamo.graph_break()",
    "x = x / x.abs().max().item()",
    "if x.std() > 1:\n            x = x / x.std()",
)


def seconds(command: list[str], folder: Path, cache: Path) -> tuple[float, float, str]:
    """Run a command with fresh caches of torch; return its seconds, those of the processor, and its output."""
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(cache)}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    spent, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, processor, done.stdout + done.stderr


def main() -> int:
    """Print the ratios; the exit code is 1 if one of the processor's seconds is above six."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--findings", type=int, default=0, metavar="N", help="only with N findings; 0 for 1, 3 and 5")
    parser.add_argument("--steps", type=int, default=60, metavar="N", help="the steps of the program [60]")
    options = parser.parse_args()
    worst = 0.0
    for count in (options.findings,) if options.findings else (1, 3, 5):
        with tempfile.TemporaryDirectory() as path:
            folder = Path(path) / "here"
            folder.mkdir()
            statements = "\n        ".join(CAUSES[:count])
            text = PROGRAM.format(statements=statements, steps=options.steps)
            (folder / "program.py").write_text(text, encoding="utf-8")
            plain = seconds([sys.executable, "program.py"], folder, Path(path) / "one")
            print(f"as it is: {plain[0]:.1f} s, of the processor {plain[1]:.1f} s", flush=True)
            command = [sys.executable, "-m", "depyf", "fix", "program.py"]
            fixed = seconds(command, folder, Path(path) / "other")
            ratios = fixed[0] / plain[0], fixed[1] / plain[1]
            worst = max(worst, ratios[1])
            print(f"{count} findings: {plain[0]:.1f} s as it is, {fixed[0]:.1f} s of depyf fix, {ratios[0]:.2f} times;")
            print(f"  of the processor {plain[1]:.1f} s, {fixed[1]:.1f} s, {ratios[1]:.2f} times", flush=True)
            print("  " + fixed[2].replace("\n", "\n  "))
    print(f"processor's seconds of depyf fix, in plain runs, at most: {worst:.2f}")
    return int(worst > 6)


if __name__ == "__main__":
    sys.exit(main())
