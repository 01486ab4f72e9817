# gone: break-dynamic-shape break-data-dependent-branch
import torch
from torch import nn


class Expert(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.up = nn.Linear(dim, 2 * dim)
        self.down = nn.Linear(2 * dim, dim)

    def forward(self, x):
        return self.down(torch.nn.functional.gelu(self.up(x)))


class MoE(nn.Module):
    def __init__(self, dim=8, num_experts=4, top_k=2):
        super().__init__()
        self.gate = nn.Linear(dim, num_experts)
        self.experts = nn.ModuleList(Expert(dim) for _ in range(num_experts))
        self.top_k = top_k

    def forward(self, x):
        flat = x.view(-1, x.size(-1))
        weights, chosen = self.gate(flat).softmax(-1).topk(self.top_k, dim=-1)
        out = torch.zeros_like(flat)
        for index, expert in enumerate(self.experts):
            token, slot = torch.where(chosen == index)
            if token.numel() == 0:
                continue
            out[token] += weights[token, slot, None] * expert(flat[token])
        return out.view_as(x)


def make():
    return MoE()


def inputs(generator):
    return (torch.randn(2, 6, 8, generator=generator),)


def main():
    torch.manual_seed(0)
    layer = torch.compile(MoE(), backend="eager")
    g = torch.Generator().manual_seed(0)
    for _ in range(5):
        y = layer(*inputs(g))
    print(f"{y.norm().item():.3f}")


if __name__ == "__main__":
    main()
