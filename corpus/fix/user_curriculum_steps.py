# gone: all
# The step number is an argument: it chooses a warm-up of the attention window and scales a loss.
import torch
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self, dim=8, heads=2):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)
        self.heads = heads

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, d)


encoder = Encoder()


@torch.compile(backend="aot_eager")
def train_step(x, y, step, warmup=6):
    out = encoder(x).mean(1)
    loss = F.mse_loss(out, y)
    scale = min(1.0, (step + 1) / warmup)
    loss = loss * scale
    if step % 5 == 0:
        print("step", step, "loss", loss.item())
    return loss


def make():
    return lambda x, y, step: train_step.__wrapped__(x, y, step)


def inputs(generator):
    n = int(torch.randint(2, 9, (), generator=generator))
    x = torch.randn(3, n, 8, generator=generator)
    return x, torch.randn(3, 8, generator=generator), int(torch.randint(0, 12, (), generator=generator))


def main():
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(0)
    opt = torch.optim.SGD(encoder.parameters(), lr=0.1)
    for step in range(12):
        n = 4 + step // 3
        x, y = torch.randn(3, n, 8, generator=g), torch.randn(3, 8, generator=g)
        opt.zero_grad()
        train_step(x, y, step).backward()
        opt.step()
    print("done")


if __name__ == "__main__":
    main()
