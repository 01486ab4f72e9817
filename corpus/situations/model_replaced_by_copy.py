# microsoft/dion#23-like evaluation: a deep copy of the model is compiled by itself and evaluated each epoch.
import copy

import torch

model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
compiled = torch.compile(model, backend="eager")
for epoch in range(4):
    compiled(torch.randn(4, 4)).sum().backward()
    frozen = torch.compile(copy.deepcopy(model).eval().requires_grad_(False), backend="eager")
    with torch.no_grad():
        frozen(torch.randn(8, 4))
