# gone: break-print graph-break
import torch
from torch import nn

CONFIG = {"temperature": 1.0, "top_k": 5, "verbose": True}


class Head(nn.Module):
    def __init__(self, dim=8, vocab=30):
        super().__init__()
        self.proj = nn.Linear(dim, vocab)

    def forward(self, hidden, config):
        logits = self.proj(hidden) / config["temperature"]
        values, _ = logits.topk(config["top_k"], dim=-1)
        logits = logits.masked_fill(logits < values[..., -1:], float("-inf"))
        if config["verbose"]:
            print("temperature", config["temperature"])
        return logits.softmax(-1)


def make():
    model = Head()
    return lambda hidden: model(hidden, CONFIG)


def inputs(generator):
    return (torch.randn(2, 8, generator=generator),)


def main():
    torch.manual_seed(0)
    head = torch.compile(Head(), backend="eager")
    g = torch.Generator().manual_seed(1)
    for step in range(10):
        config = dict(CONFIG, temperature=max(0.5, 1.0 - 0.05 * step))
        probs = head(*inputs(g), config)
    print("entropy", round(-(probs * probs.clamp_min(1e-9).log()).sum().item(), 3))


if __name__ == "__main__":
    main()
