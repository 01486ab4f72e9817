# pytorch/pytorch#128319 and pytorch/pytorch#110803: the rate of a dropout grows, with and without gradients.
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.rate = 0.1

    def forward(self, x):
        return torch.nn.functional.dropout(self.linear(x), self.rate)  # here: rate


net = Net()
run = torch.compile(net, backend="eager")
for epoch in range(7):
    net.rate = 0.1 + epoch / 20
    run(torch.randn(3, 4))
    with torch.no_grad():
        run(torch.randn(3, 4))
