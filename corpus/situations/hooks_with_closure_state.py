# pytorch/pytorch#125836: a forward hook counts its calls in an attribute of an object.
import torch


class Counter:
    def __init__(self):
        self.calls = 0

    def __call__(self, module, inputs, output):
        self.calls += 1
        return output * (1 + self.calls)  # here: calls


net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
net[0].register_forward_hook(Counter())
compiled = torch.compile(net, backend="eager")
for _ in range(12):
    compiled(torch.randn(2, 4))
