# pytorch/pytorch#101154: seeds are set before each call, and dropout draws in the graph.
import torch

model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5))
compiled = torch.compile(model, backend="eager")
for seed in range(4):
    torch.manual_seed(seed)
    compiled(torch.randn(2, 4)).sum().backward()
