# nerfstudio-project/nerfstudio, pytorch/pytorch#177895: an expert is chosen by an index argument, twelve experts.
import torch


class Experts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(12))

    def forward(self, x, index):
        return self.experts[index](x)  # here: index


experts = torch.compile(Experts(), backend="eager")
with torch.no_grad():
    for index in range(12):
        experts(torch.randn(2, 4), index)
