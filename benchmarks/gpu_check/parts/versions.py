"""Part i: the versions of everything, and what depyf lacks with this torch."""

from __future__ import annotations

import importlib.metadata
import platform

import torch

import depyf
from benchmarks.gpu_check.checks import Setting, Told
from benchmarks.gpu_check.parts.ambience import product

PACKAGES = ("torch", "triton", "numpy", "transformers", "click", "rich", "jinja2", "pytest")


def run(setting: Setting, results: Told) -> None:
    """Run the part."""
    results.add("Python", platform.python_version())
    results.add("CUDA of this torch", torch.version.cuda)
    for name in PACKAGES:
        try:
            results.add(name, importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            results.skipped(name, "not installed")
    if setting.device == "cuda":
        properties = torch.cuda.get_device_properties(0)
        results.add("device", f"{properties.name}, capability {properties.major}.{properties.minor}")
        results.add("devices", torch.cuda.device_count())
    with depyf.prepare_debug(setting.folder / "dump") as session:
        torch.compile(product, backend=setting.backend)(torch.ones(4, 4, device=setting.device))
    lacking = [f"{what}: {reason}" for what, reason in sorted(session.unavailable.items())]
    results.add("interfaces that this torch lacks", len(lacking), None, lacking)
