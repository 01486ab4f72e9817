"""A small function that is called often, and looks up its settings in a dictionary: each value is a guard.

    python examples/tutorial/hot_loop.py
"""

import torch
from measuring import compare

SETTINGS = {f"weight of part {number}": number / 100 for number in range(1000)}


def before(x: torch.Tensor) -> torch.Tensor:
    total = 0.0
    for weight in SETTINGS.values():
        total += weight
    return x * total + 1


TOTAL = sum(SETTINGS.values())


def after(x: torch.Tensor) -> torch.Tensor:
    return x * TOTAL + 1


if __name__ == "__main__":
    calls = [(torch.ones(64),)]
    compare({version.__name__: torch.compile(version, backend="eager") for version in (before, after)}, calls)
