"""Lightning-AI/litgpt: a small model with a rotary cache and a KV cache that is cleared between prompts."""

# ruff: noqa: E402

import torch

operators = torch.library.Library("torchvision", "DEF")  # its CPU build lacks both
operators.define("nms(Tensor dets, Tensor scores, float t) -> Tensor")
operators.define("qnms(Tensor dets, Tensor scores, float t) -> Tensor")
from litgpt import GPT, Config

torch.manual_seed(0)
config = Config(
    block_size=32, vocab_size=64, padded_vocab_size=64, n_layer=2, n_head=2, n_embd=16, rotary_percentage=1.0,
)
model = GPT(config).eval()
compiled = torch.compile(model, backend="eager")
with torch.no_grad():
    for length in (5, 7):
        model.set_kv_cache(batch_size=1)
        tokens = torch.randint(0, 64, (1, length))
        places = torch.arange(length)
        for _ in range(3):
            logits = compiled(tokens, places)
            tokens = logits[:, -1:].argmax(-1)
            places = places[-1:] + 1
        model.clear_kv_cache()
