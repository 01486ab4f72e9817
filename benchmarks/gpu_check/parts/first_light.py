"""Part a: `doctor`, and the toy example with `run`, `report` and `show`; its results with depyf and without."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import torch

import depyf
from benchmarks.gpu_check.checks import Setting, Told
from benchmarks.gpu_check.dumps import judge
from examples.toy_example import toy_example

SCRIPT = """
import torch
from examples.toy_example import toy_example
torch.manual_seed(0)
compiled = torch.compile(toy_example, backend={backend!r})
for _ in range(20):
    compiled(torch.randn(10, device={device!r}), torch.randn(10, device={device!r}))
"""


def run(setting: Setting, results_writer: Told) -> None:
    """Run the part."""
    script, dump = setting.folder / "toy.py", setting.folder / "dump"
    script.write_text(SCRIPT.format(backend=setting.backend, device=setting.device), encoding="utf-8")
    for words in (("doctor",), ("run", "-o", str(dump), str(script)), ("report", str(dump)), ("show", str(dump))):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "depyf", *words],
            check=False,
            capture_output=True,
            text=True,
            env=os.environ | {"NO_COLOR": "1"},
        )
        rows = (done.stdout + done.stderr).splitlines()
        (setting.folder / f"{words[0]}.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")
        results_writer.add(f"`depyf {words[0]}` ends with", done.returncode, done.returncode == 0, rows[-20:])
    judge(results_writer, "toy", dump)
    plain, captured = results(setting, None), results(setting, setting.folder / "captured")
    different = [number for number, pair in enumerate(zip(plain, captured)) if not torch.equal(*pair)]
    results_writer.none_of("toy: results with other bits than without depyf", different, len(plain))


def results(setting: Setting, directory: Path | None) -> list[torch.Tensor]:
    """Return the results of 20 calls, captured into `directory` if there is one."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    compiled = torch.compile(toy_example, backend=setting.backend)
    with depyf.prepare_debug(directory) if directory is not None else nullcontext():
        pairs = [[torch.randn(10, device=setting.device) for _ in range(2)] for _ in range(20)]
        return [compiled(*pair) for pair in pairs]
