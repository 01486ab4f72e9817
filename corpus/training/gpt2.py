"""Train a small GPT-2 of full depth for three steps: twelve blocks, random weights, random tokens."""

from __future__ import annotations

import torch
from transformers import GPT2Config, GPT2LMHeadModel

STEPS = 3


def main() -> None:
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=512, n_positions=64, n_embd=64, n_layer=12, n_head=4, use_cache=False)
    model = GPT2LMHeadModel(config).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    compiled = torch.compile(model)
    for _ in range(STEPS):
        tokens = torch.randint(0, config.vocab_size, (2, 32))
        optimizer.zero_grad()
        loss = compiled(input_ids=tokens, labels=tokens).loss
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
