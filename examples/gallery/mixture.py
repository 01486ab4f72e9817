"""A mixture of experts: each token goes to the expert that a router chooses, so values decide about shapes.

    python examples/gallery/mixture.py [eager|aot_eager|inductor]
"""

import sys

import torch
from torch import nn


class Expert(nn.Module):
    """A small MLP."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(torch.nn.functional.silu(self.up(x)))


class Sparse(nn.Module):
    """Sends each token to one expert: which tokens an expert gets is known only when it runs, and breaks the graph."""

    def __init__(self, width: int, experts: int) -> None:
        super().__init__()
        self.router = nn.Linear(width, experts)
        self.experts = nn.ModuleList(Expert(width) for _ in range(experts))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weights, chosen = self.router(x).softmax(-1).max(-1)
        result = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            (places,) = torch.where(chosen == number)
            if len(places):
                result[places] = weights[places, None] * expert(x[places])
        return result


class Dense(nn.Module):
    """Lets every expert see every token, and takes what was chosen: more work, and one graph."""

    def __init__(self, sparse: Sparse) -> None:
        super().__init__()
        self.router, self.experts = sparse.router, sparse.experts

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weights, chosen = self.router(x).softmax(-1).max(-1)
        every = torch.stack([expert(x) for expert in self.experts], 1)
        return weights[:, None] * every[torch.arange(len(x)), chosen]


def main(backend: str) -> None:
    """Run both on the same tokens."""
    torch.manual_seed(0)
    sparse = Sparse(width=16, experts=3).eval()
    with torch.no_grad():
        for layer in (sparse, Dense(sparse)):
            compiled = torch.compile(layer, backend=backend)
            for _ in range(2):
                result = compiled(torch.randn(24, 16))
            print(type(layer).__name__, tuple(result.shape))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "inductor")
