# Cross validation: a new model of the same sizes for each fold, compiled by itself.
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def forward(self, x):
        return self.layer(x)


for fold in range(3):
    net = Net()
    compiled = torch.compile(net, backend="eager")
    for _ in range(2):
        compiled(torch.randn(8, 4)).mean().backward()
    net.eval()
    with torch.no_grad():
        compiled(torch.randn(4, 4))
