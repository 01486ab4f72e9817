# gone: all
# A mask is built in a loop of Python's over the lengths, which are values of a tensor.
import torch
import torch.nn.functional as F
from torch import nn


def make_mask(lengths, max_len):
    mask = torch.zeros(len(lengths), max_len, dtype=torch.bool)
    for i, n in enumerate(lengths.tolist()):
        mask[i, :n] = True
    return mask


class Pooler(nn.Module):
    def __init__(self, dim=6):
        super().__init__()
        self.proj = nn.Linear(dim, dim)
        self.query = nn.Parameter(torch.randn(dim))

    def forward(self, x, lengths):
        mask = make_mask(lengths, x.shape[1])
        h = torch.tanh(self.proj(x))
        scores = (h @ self.query).masked_fill(~mask, float("-inf"))
        return (F.softmax(scores, dim=-1)[..., None] * h).sum(1)


def make():
    return Pooler()


def inputs(generator):
    lengths = torch.randint(1, 8, (3,), generator=generator)
    return torch.randn(3, 7, 6, generator=generator), lengths


def main():
    torch.manual_seed(0)
    pooler = torch.compile(Pooler(), backend="aot_eager")
    g = torch.Generator().manual_seed(2)
    total = torch.zeros(6)
    for _ in range(6):
        pooled = pooler(*inputs(g))
        pooled.sum().backward()
        total = total + pooled.detach().mean(0)
    print("pooled", [round(v, 3) for v in total.tolist()])


if __name__ == "__main__":
    main()
