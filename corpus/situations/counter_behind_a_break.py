# PrimeIntellect-ai/prime-rl#1778: a module prints and counts its calls until the limit.
import torch


class Router(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        x = x.softmax(-1)
        print("routed")  # here: print
        self.calls += 1  # here: calls
        return x * self.calls


router = torch.compile(Router(), backend="eager")
for _ in range(14):
    router(torch.ones(2, 3))
