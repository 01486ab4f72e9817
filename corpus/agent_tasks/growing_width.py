import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(16, 16)
        self.active = 1

    def forward(self, x):
        positions = torch.arange(16)
        return torch.relu(self.layer(x)) * (positions < self.active) * self.active


def grow(net, epoch):
    net.active = epoch + 2


torch.manual_seed(16)
net = Net()
step = torch.compile(net)
total = 0.0
for epoch in range(12):
    grow(net, epoch)
    for batch in range(2):
        total += float(step(torch.randn(3, 16)).sum())
print("result", round(total, 4))
