"""T5: an encoder, a decoder that looks at it, and relative positions.

    python examples/gallery/t5.py [eager|aot_eager|inductor]
"""

import sys

import torch
from transformers import T5Config, T5ForConditionalGeneration


def main(backend: str) -> None:
    """Build the model with random weights, compile it, and call it."""
    torch.manual_seed(0)
    config = T5Config(
        vocab_size=100, d_model=32, d_kv=8, d_ff=64, num_layers=1, num_heads=4, decoder_start_token_id=0
    )
    model = torch.compile(T5ForConditionalGeneration(config).eval(), backend=backend)
    question, answer = torch.randint(0, 100, (1, 10)), torch.randint(0, 100, (1, 6))
    with torch.no_grad():
        for _ in range(2):
            result = model(input_ids=question, decoder_input_ids=answer, use_cache=False)
    print(tuple(result.logits.shape))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "inductor")
