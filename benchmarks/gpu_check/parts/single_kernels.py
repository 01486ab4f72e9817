"""Part d: every kernel alone on the device against its nodes, then in Triton's interpreter against the device."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import torch

import depyf
from benchmarks.gpu_check.checks import Setting, Told
from benchmarks.gpu_check.dumps import has_kernels, triton_kernels
from benchmarks.kernels import MODELS, alone

ALSO_SMALL = ("softmax", "gelu")
OPERATION = re.compile(r"\b(?:libdevice|tl_math|triton_helpers|tl)\.(\w+)\(")


def run(setting: Setting, results: Told) -> None:
    """Run the part."""
    if not has_kernels(setting):
        results.skipped("kernels alone", "triton is not installed")
        return
    files, failed = [], []
    for name in ALSO_SMALL if setting.is_small else MODELS:
        directory = setting.folder / name
        try:
            _capture(setting, name, directory)
        except Exception as error:  # noqa: BLE001 - the kernels of the other models still count
            failed.append(f"{name}: {type(error).__name__}: {str(error)[:300]}")
            continue
        files += [path for launched_kernel, path, _ in alone(directory) if launched_kernel.kernel.language == "triton"]
    results.add("models that do not run on this device", len(failed), None, failed)
    wrong = _on_device(files)
    results.none_of("kernels alone that differ from their nodes", wrong, len(files))
    command = [sys.executable, "-W", "ignore", "-m", __name__, "--interpret", str(setting.folder)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    results.add("the interpreter's process ends with", done.returncode, done.returncode == 0, [done.stderr[-900:]])
    different = [row.removeprefix("different ") for row in done.stdout.splitlines() if row.startswith("different ")]
    ran = sum(row.startswith(("different ", "same ")) for row in done.stdout.splitlines())
    number = f"{len(different)} of {ran}"
    results.add("kernels whose results differ between interpreter and device", number, None, different)
    operations = suspects(files, {row.split(":")[0] for row in different})
    results.add("operations only of kernels that differ", len(operations), None, operations)


def _capture(setting: Setting, name: str, directory: Path) -> None:
    torch._dynamo.reset()
    torch.manual_seed(0)
    with triton_kernels(setting), depyf.prepare_debug(directory):
        given = torch.randn(16, 32).requires_grad_()
        torch.compile(MODELS[name])(given).square().sum().backward()


def _on_device(files: list[Path]) -> list[str]:
    """Run each file's kernel, save what it writes, and return what is not as its nodes."""
    wrong = []
    for path in files:
        try:
            scope, given = launched(path)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a kernel that cannot be run is a result
            wrong.append(f"{path.parent.name}/{path.stem}: {type(error).__name__}: {str(error)[:200]}")
            continue
        torch.manual_seed(0)
        for name, right in scope["eager"](scope["inputs"]()).items():
            tolerance = max(1e-3, scope["EXPECTED"][name][1])
            got = given[name].reshape(right.shape).double()
            if not torch.allclose(got, right.double(), tolerance, tolerance, equal_nan=True):
                wrong.append(f"{path.parent.name}/{path.stem}: {name}")
        torch.save({name: tensor.cpu() for name, tensor in _tensors(given)}, path.with_suffix(".device"))
    return wrong


def launched(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the names of a kernel's file, and its arguments after a launch with inputs from a seed."""
    scope = runpy.run_path(str(path))
    torch.manual_seed(0)
    given = scope["inputs"]()
    scope["launch"](given)
    return scope, given


def _tensors(given: dict[str, Any]) -> list[tuple[str, torch.Tensor]]:
    return [(name, tensor) for name, tensor in given.items() if isinstance(tensor, torch.Tensor)]


def interpret(folder: Path) -> None:
    """Run the saved kernels in the interpreter, and print which results differ from the device's by more than bits."""
    for saved in sorted(folder.glob("*/*.device")):
        right = torch.load(saved, weights_only=True)
        name = f"{saved.parent.name}/{saved.stem}"
        try:
            _, given = launched(saved.with_suffix(".py"))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - what the interpreter cannot run is a result
            print(f"different {name}: {type(error).__name__}: {str(error)[:200]}".replace("\n", " "), flush=True)
            continue
        rows = [f"{key} by {_apart(tensor.cpu(), right[key]):.3g}" for key, tensor in _tensors(given)]
        rows = [row for row in rows if not row.endswith(" by 0")]
        print(f"different {name}: {', '.join(rows)}" if rows else f"same {name}", flush=True)


def _apart(got: torch.Tensor, right: torch.Tensor) -> float:
    if not got.numel() or torch.equal(got, right):
        return 0.0
    return float((got.double() - right.double()).abs().nan_to_num().max())


def suspects(files: list[Path], different: set[str]) -> list[str]:
    """Return the operations that only kernels with different results use, most frequent first."""
    used: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for path in files:
        text = path.read_text(encoding="utf-8").partition("@triton.jit")[2].partition("def inputs")[0]
        used[f"{path.parent.name}/{path.stem}" in different].update(set(OPERATION.findall(text)))
    return [f"{name} in {number}" for name, number in used[True].most_common() if name not in used[False]]


if __name__ == "__main__":
    interpret(Path(sys.argv[2]))
