"""Part f: what a GPU brings besides kernels: streams, TF32, autocast, pinned memory, and indices of devices."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import torch

import depyf
from benchmarks.gpu_check.checks import Setting, Told
from benchmarks.gpu_check.dumps import judge

Step = Callable[..., Any]


def run(setting: Setting, results: Told) -> None:
    """Run the part."""
    _changed(setting, results, "autocast", _with_autocast, {"autocast"})
    _changed(setting, results, "TF32", _with_tf32, {"matmul-precision"})
    _changed(setting, results, "pinned memory", _pinned if not setting.is_small else _twice, set())
    if setting.is_small:
        results.skipped("a stream inside a graph", "there is no GPU")
    else:
        _changed(setting, results, "a stream", _streamed, set())
    if setting.device == "cuda" and torch.cuda.device_count() > 1:
        _changed(setting, results, "another device", _elsewhere, {"tensor-device"})
    else:
        _fake_devices(results)


def product(x: torch.Tensor) -> torch.Tensor:
    """Return something that depends on the precision of products."""
    return (x @ x).relu()


def _changed(
    setting: Setting, results: Told, name: str, calls: Callable[[Setting, Step], None], kinds: set[str]
) -> None:
    """Call a compiled function twice, and check that the findings name what changed in between, and nothing else."""
    torch._dynamo.reset()
    directory = setting.folder / name.replace(" ", "-")
    with depyf.prepare_debug(directory):
        calls(setting, torch.compile(product, backend=setting.backend))
    index = json.loads((directory / "index.json").read_text(encoding="utf-8"))
    kinds_found = {finding["kind"] for finding in index["findings"]}
    results.add(
        f"{name}: findings",
        sorted(kinds_found),
        kinds_found == kinds,
        [finding["cause"] for finding in index["findings"]],
    )
    judge(results, name, directory)


def _given(setting: Setting) -> torch.Tensor:
    return torch.ones(16, 16, device=setting.device)


def _twice(setting: Setting, compiled: Step) -> None:
    compiled(_given(setting))
    compiled(_given(setting))


def _with_autocast(setting: Setting, compiled: Step) -> None:
    compiled(_given(setting))
    with torch.autocast(setting.device, torch.bfloat16):
        compiled(_given(setting))


def _with_tf32(setting: Setting, compiled: Step) -> None:
    compiled(_given(setting))
    torch.set_float32_matmul_precision("high")
    compiled(_given(setting))
    torch.set_float32_matmul_precision("highest")


def _pinned(setting: Setting, compiled: Step) -> None:
    for given in (torch.ones(16, 16), torch.ones(16, 16).pin_memory()):
        compiled(given.to(setting.device, non_blocking=True))


def _streamed(setting: Setting, compiled: Step) -> None:
    given = _given(setting)
    expected = product(given)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        result = compiled(given)
    torch.cuda.current_stream().wait_stream(stream)
    assert torch.equal(result, expected)
    assert torch.equal(compiled(given), expected)


def _elsewhere(setting: Setting, compiled: Step) -> None:
    compiled(torch.ones(16, 16, device="cuda:0"))
    compiled(torch.ones(16, 16, device="cuda:1"))


def _fake_devices(results: Told) -> None:
    """Run the tests with two fake devices, which must hide a real one."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/torch/test_devices.py"]
    hidden = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=hidden)
    rows = done.stdout.splitlines()
    results.add("tests with fake devices", rows[-1] if rows else done.stderr[-200:], done.returncode == 0, rows[-20:])
