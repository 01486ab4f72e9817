# gone: class-defined-again break-data-dependent-branch
import torch


class Holder(torch.nn.Module):
    def __init__(self, block):
        super().__init__()
        self.block = block


def f(holder, x):
    y = holder.block(x)
    if y.sum() > 0:
        y = y + 1
    return y * 2


def make():
    return f


def inputs(generator):
    return (Holder(torch.nn.ReLU()), torch.randn(6, generator=generator))


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(4):
        x = torch.randn(6, generator=torch.Generator().manual_seed(seed))

        class Block(torch.nn.Module):
            def forward(self, x):
                return x * 2

        print(step(Holder(Block()), x).shape)
