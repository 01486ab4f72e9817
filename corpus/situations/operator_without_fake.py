# Lightning-AI/lightning-thunder#2530: an operator of one's own has no fake implementation.
import torch


@torch.library.custom_op("situations::halve", mutates_args=())
def halve(x: torch.Tensor) -> torch.Tensor:
    return x / 2


@torch.compile(backend="eager")
def run(x):
    return halve(x + 1) * 3  # here: operator


try:
    run(torch.ones(3))
except Exception as error:
    print(type(error).__name__)
