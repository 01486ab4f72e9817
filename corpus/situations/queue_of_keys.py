# pytorch/rl#2501: a buffer takes the new keys in forward and grows until it is full.
import torch


class Queue(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(2, 3))

    def forward(self, x):
        self.keys = torch.cat([self.keys, x])[-12:]
        return (self.keys @ x.T).sum()  # here: keys


run = torch.compile(Queue(), backend="eager")
for _ in range(8):
    run(torch.randn(2, 3))
