"""Llama: rotary positions, and heads that share keys and values.

    python examples/gallery/llama.py [eager|aot_eager|inductor]
"""

import sys

import torch
from transformers import LlamaConfig, LlamaForCausalLM


def main(backend: str) -> None:
    """Build the model with random weights, compile it, and call it."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=100,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
    )
    model = torch.compile(LlamaForCausalLM(config).eval(), backend=backend)
    with torch.no_grad():
        for _ in range(2):
            result = model(input_ids=torch.randint(0, 100, (1, 12)), use_cache=False)
    print(tuple(result.logits.shape))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "inductor")
