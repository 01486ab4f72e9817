# pytorch/pytorch#33618: a network is pruned further after each epoch, with the hooks of `torch.nn.utils.prune`.
import torch
from torch.nn.utils import prune


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(8, 16)
        self.second = torch.nn.Linear(16, 4)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


torch.manual_seed(0)
model = Network()
compiled = torch.compile(model, backend="eager")
for epoch in range(4):
    for _ in range(2):
        compiled(torch.randn(4, 8)).square().mean().backward()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter -= 0.01 * parameter.grad
            parameter.grad = None
    prune.l1_unstructured(model.first, "weight", amount=0.2)  # here: prune
