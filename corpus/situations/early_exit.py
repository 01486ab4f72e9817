# pytorch/pytorch#114293, early-exit networks: a loop over layers ends where the confidence is high.
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
            if x.softmax(-1).max() > 0.9:  # here: exit
                break
        return x


net = torch.compile(Net(), backend="eager")
with torch.no_grad():
    for scale in (1, 5, 20):
        net(scale * torch.randn(2, 4))
