"""ViT: an image cut into patches, and attention between them.

    python examples/gallery/vit.py [eager|aot_eager|inductor]
"""

import sys

import torch
from transformers import ViTConfig, ViTModel


def main(backend: str) -> None:
    """Build the model with random weights, compile it, and call it."""
    torch.manual_seed(0)
    config = ViTConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, image_size=32, patch_size=8
    )
    model = torch.compile(ViTModel(config).eval(), backend=backend)
    with torch.no_grad():
        for _ in range(2):
            result = model(torch.randn(1, 3, 32, 32))
    print(tuple(result.last_hidden_state.shape))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "inductor")
