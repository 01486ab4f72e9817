# NVIDIA/flashdreams#257: the number of a block selects a layer.
import torch


class Blocks(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(5))

    def forward(self, x, number):
        return self.layers[number](x)  # here: number


run = torch.compile(Blocks(), backend="eager")
for number in range(5):
    run(torch.randn(2, 4), number)
