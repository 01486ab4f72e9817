# pytorch/pytorch#134954: a function takes modules that differ only in a number.
import torch


class Wave(torch.nn.Module):
    def __init__(self, shift):
        super().__init__()
        self.shift = shift

    def forward(self, x):
        return (x + self.shift).sin()  # here: shift


@torch.compile(backend="eager")
def run(net, x):
    return net(x).sum()


for number in range(5):
    run(Wave(number + 0.25), torch.randn(6))
