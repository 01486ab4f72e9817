"""BERT: an encoder, with a mask for what is padding.

    python examples/gallery/bert.py [eager|aot_eager|inductor]
"""

import sys

import torch
from transformers import BertConfig, BertModel


def main(backend: str) -> None:
    """Build the model with random weights, compile it, and call it."""
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
    )
    model = torch.compile(BertModel(config).eval(), backend=backend)
    tokens = torch.randint(0, 100, (2, 12))
    mask = torch.ones_like(tokens)
    mask[1, 8:] = 0
    with torch.no_grad():
        for _ in range(2):
            result = model(input_ids=tokens, attention_mask=mask)
    print(tuple(result.last_hidden_state.shape))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "inductor")
