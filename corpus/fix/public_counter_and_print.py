# gone: counter break-print
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
        self.seen = 0

    def forward(self, x):
        self.seen += 1
        y = self.layer(x) * self.seen
        print("seen")
        return y


def make():
    return Net()


def inputs(generator):
    return (torch.randn(4, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(12):
        step(*inputs(torch.Generator().manual_seed(seed)))
    print("done")
