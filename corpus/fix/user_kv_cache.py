# gone: tensor-size
import torch
import torch.nn.functional as F
from torch import nn


class CachedAttention(nn.Module):
    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x, past=None):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        if past is not None:
            k = torch.cat([past[0], k], dim=2)
            v = torch.cat([past[1], v], dim=2)
        y = F.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).reshape(b, t, d)), (k, v)


def make():
    return CachedAttention()


def inputs(generator):
    return (
        torch.randn(1, 1, 16, generator=generator),
        (torch.randn(1, 2, 5, 8, generator=generator), torch.randn(1, 2, 5, 8, generator=generator)),
    )


@torch.no_grad()
def generate(tokens=10):
    torch.manual_seed(0)
    layer = torch.compile(CachedAttention(), backend="eager")
    x = torch.randn(1, 3, 16)
    y, past = layer(x)
    for _ in range(tokens):
        y, past = layer(y[:, -1:], past)
    return y


if __name__ == "__main__":
    print(generate().shape)
