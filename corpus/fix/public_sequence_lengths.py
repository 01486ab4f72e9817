# gone: tensor-size
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(x).mean(0)


def make():
    return Net()


def inputs(generator):
    return (torch.randn(int(torch.randint(3, 9, (), generator=generator)), 4, generator=generator),)


if __name__ == "__main__":
    step = torch.compile(make(), backend="eager")
    for seed in range(6):
        batch = torch.ones(3 + seed, 4)
        step(batch)
    print("done")
