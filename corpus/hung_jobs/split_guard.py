import torch
import torch.distributed as dist
from job import CULPRIT, RANK, end, start


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
        self.depth = 2

    def forward(self, x):
        for _ in range(self.depth):
            x = torch.relu(self.layer(x))
        return x


start()
block = Block()
compiled = torch.compile(block, backend="eager")
with torch.no_grad():
    for number in range(10):
        if RANK == CULPRIT and number == 4:
            block.depth = 20000
        out = compiled(torch.ones(2, 4))  # here
        dist.all_reduce(out)  # here
end()
