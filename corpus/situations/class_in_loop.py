# pytorch/pytorch#167504: each configuration defines its module's class again, and one function takes the modules.
import torch


@torch.compile(backend="eager")
def apply(net, x):
    return net(x).sum()


def build():
    class Net(torch.nn.Module):
        def forward(self, x):
            return x.sin()

    return Net()


for _ in range(4):
    apply(build(), torch.randn(3))
