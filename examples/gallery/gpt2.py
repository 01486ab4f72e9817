"""GPT-2: prompts of several lengths; the second makes the length a symbol.

    python examples/gallery/gpt2.py [eager|aot_eager|inductor]
"""

import sys

import torch
from transformers import GPT2Config, GPT2LMHeadModel


def main(backend: str) -> None:
    """Build the model with random weights, compile it, and call it."""
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=100, n_positions=64, n_embd=32, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0
    )
    model = torch.compile(GPT2LMHeadModel(config).eval(), backend=backend)
    with torch.no_grad():
        for length in (8, 8, 11, 15):
            result = model(input_ids=torch.randint(0, 100, (1, length)), use_cache=False)
    print(tuple(result.logits.shape))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "inductor")
