# gone: counter recompile-limit tensor-size break-data-dependent-branch
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        x = self.layer(x)
        if x.abs().mean() > 1:
            x = x / 2
        else:
            x = x * 1
        return x.sum() * self.calls


def make():
    return Net()


def inputs(generator):
    return (torch.randn(3 + int(torch.randint(5, (), generator=generator)), 4, generator=generator),)


if __name__ == "__main__":
    net = make()
    step = torch.compile(net, backend="eager")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for n in range(11):
        batch = torch.randn(4 + n % 3, 4)
        step(batch).backward()
        optimizer.step()
        optimizer.zero_grad()
    print("done")
