"""Breaks, recompiles and skipped frames, each on purpose: to learn what they look like in the report.

    python examples/gallery/everything_wrong.py [eager|aot_eager|inductor]
"""

import sys
from collections.abc import Callable

import torch

COUNT = {"calls": 0}


def prints(x: torch.Tensor) -> torch.Tensor:
    """Print in the middle: a break."""
    x = x.sin()
    print("half of it is done")
    return x.cos()


def looks_at_a_value(x: torch.Tensor) -> torch.Tensor:
    """Decide by a value of a tensor: a break, and a resume function for each way."""
    if x.sum() > 0:
        return x + 1
    return x - 1


def takes_an_item(x: torch.Tensor) -> torch.Tensor:
    """Take a number out of a tensor: a break."""
    return x * x.max().item()


def grows(x: torch.Tensor) -> torch.Tensor:
    """Get longer inputs: one recompile, for all lengths."""
    return x.relu().sum()


def counts(x: torch.Tensor, name: str) -> torch.Tensor:
    """Get another name each time: a recompile for each."""
    return x * len(name)


def chooses(x: torch.Tensor, activation: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """Get another function each time: a recompile for each."""
    return activation(x) + 1


def reads_a_global(x: torch.Tensor) -> torch.Tensor:
    """Read a number that the program changes: a recompile, then a symbol."""
    return x + COUNT["calls"]


@torch.compiler.disable
def left_alone(x: torch.Tensor) -> torch.Tensor:
    """Is never compiled."""
    return x + 2


def calls_what_is_left_alone(x: torch.Tensor) -> torch.Tensor:
    """Call a function that Dynamo is told to leave alone: a break on either side."""
    return left_alone(x * 3) * 4


def main(backend: str) -> None:
    """Call each so that it goes wrong."""
    torch.manual_seed(0)
    x = torch.ones(4)
    compiled = {
        function.__name__: torch.compile(function, backend=backend)
        for function in (
            *(prints, looks_at_a_value, takes_an_item, grows, counts, chooses, reads_a_global),
            calls_what_is_left_alone,
        )
    }
    compiled["prints"](x)
    for sign in (1, -1):
        compiled["looks_at_a_value"](sign * x)
    compiled["takes_an_item"](x)
    for length in (4, 5, 6):
        compiled["grows"](torch.ones(length))
    for name in ("a", "bc", "def"):
        compiled["counts"](x, name)
    for activation in (torch.relu, torch.tanh, torch.sigmoid):
        compiled["chooses"](x, activation)
    for calls in range(3):
        COUNT["calls"] = calls
        compiled["reads_a_global"](x)
    compiled["calls_what_is_left_alone"](x)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "inductor")
