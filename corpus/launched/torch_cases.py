"""Compiles the examples that torch itself comes with, those of `torch.export`, one after the other.

    python torch_cases.py BACKEND
"""

import sys

import torch

torch.manual_seed(0)

from torch._export.db.examples import all_examples  # noqa: E402 - their weights are random


def result(value: object) -> object:
    """Return what can be printed of a result, the same in every run."""
    leaves = torch.utils._pytree.tree_leaves(value)
    return [leaf.double().sum().item() if isinstance(leaf, torch.Tensor) else str(leaf) for leaf in leaves]


for name, case in sorted(all_examples().items()):
    torch.manual_seed(0)
    arguments = [
        torch.ones_like(argument) if isinstance(argument, torch.Tensor) else argument for argument in case.example_args
    ]
    try:
        print(name, result(torch.compile(case.model, backend=sys.argv[1])(*arguments, **case.example_kwargs)))
    except Exception as error:
        print(name, type(error).__name__)
