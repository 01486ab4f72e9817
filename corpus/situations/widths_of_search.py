# Hyperparameter search: the same class with ten widths and ten learning rates, each compiled.
import torch


class Net(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first, self.second = torch.nn.Linear(4, width), torch.nn.Linear(width, 1)

    def forward(self, x):
        return self.second(self.first(x).relu())  # here: forward


for width in range(4, 24, 2):
    compiled = torch.compile(Net(width), backend="eager")
    for _ in range(2):
        compiled(torch.randn(8, 4)).mean().backward()
