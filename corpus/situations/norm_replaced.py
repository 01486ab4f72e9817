# pytorch/pytorch#163329: a submodule is replaced by one of another class, and later the input is cast.
import torch


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(4)

    def forward(self, x):
        return self.norm(x) * 2  # here: norm


block = Block()
run = torch.compile(block, backend="eager")
run(torch.randn(3, 4))
block.norm = torch.nn.Identity()
run(torch.randn(3, 4))
run(torch.randn(3, 4, dtype=torch.float64))
