# gone: break-item
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, x):
        y = self.layer(x)
        scale = y.std().item()
        return y * scale


def make():
    return Net()


def inputs(generator):
    return (torch.randn(4, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(4):
        step(*inputs(torch.Generator().manual_seed(seed)))
    print("done")
