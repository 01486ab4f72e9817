# pytorch/pytorch#133303 and pytorch/pytorch#141486: a backward hook breaks the graph, and lengths differ.
import torch


class Scored(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.linear.register_full_backward_hook(lambda module, given, taken: None)

    def forward(self, x):
        return self.linear(x * 2).sum()  # here: hook


run = torch.compile(Scored(), backend="eager")
for length in (3, 5, 6):
    run(torch.randn(length, 4)).backward()
