"""A training step: forward, backward, and an optimizer that is compiled too.

    python examples/gallery/training.py [eager|aot_eager|inductor]
"""

import sys

import torch
from torch import nn


class Classifier(nn.Module):
    """Two layers with dropout between."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(16, 32)
        self.norm = nn.LayerNorm(32)
        self.outer = nn.Linear(32, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.norm(torch.nn.functional.gelu(self.inner(x)))
        return self.outer(torch.nn.functional.dropout(x, 0.1, self.training))


def main(backend: str) -> None:
    """Train for three steps, then look at the result without gradients."""
    torch.manual_seed(0)
    model = Classifier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    x, wanted = torch.randn(32, 16), torch.randint(0, 4, (32,))

    @torch.compile(backend=backend)
    def loss_of(x: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(model(x), wanted)

    @torch.compile(backend=backend)
    def update() -> None:
        optimizer.step()

    for _ in range(3):
        loss = loss_of(x, wanted)
        loss.backward()
        update()
        optimizer.zero_grad()
        print(f"{loss.item():.3f}")
    model.eval()
    with torch.no_grad():
        print(f"{loss_of(x, wanted).item():.3f}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "inductor")
