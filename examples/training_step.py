"""A training step of a small transformer: a graph break, and recompiles for another length and another number.

python examples/training_step.py [eager|aot_eager|inductor]
"""

import sys

import torch
from torch import nn


class Block(nn.Module):
    """Attention and an MLP, each added to what came in."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        x = x + self.out(nn.functional.scaled_dot_product_attention(q, k, v))
        return x + self.mlp(x)


class Model(nn.Module):
    """Tokens to scores of the next ones."""

    def __init__(self, words: int = 50, width: int = 16, depth: int = 2) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.head = nn.Linear(width, words)

    def forward(self, tokens: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        if x.mean() > 100:
            print("the activations are large")
        return self.head(x) * scale


def step(model: nn.Module, optimizer: torch.optim.Optimizer, tokens: torch.Tensor, scale: float) -> float:
    """Train on one batch and return its loss."""
    scores = model(tokens, scale)
    loss = nn.functional.cross_entropy(scores.flatten(0, 1), tokens.flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


def main(backend: str) -> list[float]:
    """Train for a few steps: the third has longer batches, and the fourth another scale."""
    torch.manual_seed(0)
    model = torch.compile(Model(), backend=backend)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batches = ((8, 1.0), (8, 1.0), (12, 1.0), (12, 2.0))
    return [step(model, optimizer, torch.randint(0, 50, (2, length)), scale) for length, scale in batches]


if __name__ == "__main__":
    print(main(sys.argv[1] if len(sys.argv) > 1 else "inductor"))
