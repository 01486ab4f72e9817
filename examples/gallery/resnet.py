"""ResNet: convolutions and batch norms in one graph.

    python examples/gallery/resnet.py [eager|aot_eager|inductor]
"""

import sys

import torch
from transformers import ResNetConfig, ResNetModel


def main(backend: str) -> None:
    """Build the model with random weights, compile it, and call it."""
    torch.manual_seed(0)
    config = ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic")
    model = torch.compile(ResNetModel(config).eval(), backend=backend)
    with torch.no_grad():
        for _ in range(2):
            result = model(torch.randn(1, 3, 32, 32))
    print(tuple(result.last_hidden_state.shape))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "inductor")
