"""Part e: mutated kernels, and the first NaN of a function."""

from __future__ import annotations

import random
import warnings

import torch

import depyf
from benchmarks import kernel_mutations, kernels
from benchmarks.gpu_check.checks import Setting, Told
from benchmarks.gpu_check.dumps import has_kernels, triton_kernels

SEED, COUNT = 42, 12
SMALL_MODELS = ("gelu", "softmax")
FEW = 8
"""The number of models on a device. All of them take minutes to capture."""


def run(setting: Setting, results: Told) -> None:
    """Run the part."""
    warnings.simplefilter("ignore")
    _first_nan(setting, results)
    if not has_kernels(setting):
        results.skipped("mutated kernels", "triton is not installed")
        return
    models = kernels.MODELS
    chosen = SMALL_MODELS if setting.is_small else random.Random(SEED).sample(sorted(models), FEW)
    kept = {name: models[name] for name in chosen}
    models.clear()
    models.update(kept)
    with triton_kernels(setting):
        _mutated(1 if setting.is_small else COUNT, results)


def _first_nan(setting: Setting, results: Told) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        shifted = x - 10
        return torch.log(shifted) * 2

    torch._dynamo.reset()
    given = torch.ones(32, device=setting.device)
    first = depyf.trace_numerics(torch.compile(function, backend=setting.backend))(given).first
    line = function.__code__.co_firstlineno + 2
    place_of_nan = (first.kind.value, first.where.line) if first is not None and first.where is not None else None
    results.add("the first NaN is found at its line", place_of_nan, place_of_nan == ("nan", line))


def _mutated(count: int, results: Told) -> None:
    places = kernel_mutations.all_sites()
    missed, drawn, same = [], 0, 0
    for site in random.Random(SEED).sample(places, len(places)):
        if drawn == count:
            break
        location = kernel_mutations.located(site)
        same += location is None
        if location is not None:
            drawn += 1
            missed += [] if location[0] and location[1] else [location[2]]
    results.none_of("mutated kernels whose line or node is not found", missed, drawn)
    results.add("mutations that change no result", same)
