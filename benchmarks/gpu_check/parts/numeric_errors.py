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


def run(setting: Setting, told: Told) -> None:
    """Run the part."""
    warnings.simplefilter("ignore")
    _first_nan(setting, told)
    if not has_kernels(setting):
        told.skipped("mutated kernels", "triton is not installed")
        return
    models = kernels.MODELS
    chosen = SMALL_MODELS if setting.is_small else random.Random(SEED).sample(sorted(models), FEW)
    kept = {name: models[name] for name in chosen}
    models.clear()
    models.update(kept)
    with triton_kernels(setting):
        _mutated(1 if setting.is_small else COUNT, told)


def _first_nan(setting: Setting, told: Told) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        shifted = x - 10
        return torch.log(shifted) * 2

    torch._dynamo.reset()
    given = torch.ones(32, device=setting.device)
    first = depyf.trace_numerics(torch.compile(function, backend=setting.backend))(given).first
    line = function.__code__.co_firstlineno + 2
    found = (first.kind.value, first.where.line) if first is not None and first.where is not None else None
    told.add("the first NaN is found at its line", found, found == ("nan", line))


def _mutated(count: int, told: Told) -> None:
    places = kernel_mutations.all_sites()
    missed, drawn, same = [], 0, 0
    for site in random.Random(SEED).sample(places, len(places)):
        if drawn == count:
            break
        found = kernel_mutations.located(site)
        same += found is None
        if found is not None:
            drawn += 1
            missed += [] if found[0] and found[1] else [found[2]]
    told.none_of("mutated kernels whose line or node is not found", missed, drawn)
    told.add("mutations that change no result", same)
