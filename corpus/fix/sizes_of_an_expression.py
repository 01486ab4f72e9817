# gone: tensor-size
import torch


class Pool(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(x).mean(0)


def make():
    return Pool()


def inputs(generator):
    return (torch.randn(3 + int(torch.randint(5, (), generator=generator)), 4, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for n in (3, 5, 7, 9):
        step(torch.randn(n, 4))
    print("done")
