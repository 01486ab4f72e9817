# pytorch/pytorch#190286: a trainer counts the operations of its first step, and compiles nothing from then on.
import torch
from torch.utils.flop_counter import FlopCounterMode


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(8, 16)
        self.down = torch.nn.Linear(16, 8)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(x)))


model = Block()
compiled = torch.compile(model, backend="eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for number in range(6):
    batch = torch.randn(4, 8)
    if number == 0:
        with FlopCounterMode(display=False) as counter:  # here: mode
            loss = compiled(batch).square().mean()
        operations = counter.get_total_flops()
    else:
        loss = compiled(batch).square().mean()  # here: call
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
