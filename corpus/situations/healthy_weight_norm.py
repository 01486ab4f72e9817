# pytorch/pytorch#121304: layers with weight norm are trained, evaluated and trained again.
import torch
from torch.nn.utils.parametrizations import weight_norm

model = torch.nn.Sequential(weight_norm(torch.nn.Linear(4, 8)), torch.nn.ReLU(), weight_norm(torch.nn.Linear(8, 2)))
compiled = torch.compile(model, backend="eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    compiled.train()
    for _ in range(2):
        optimizer.zero_grad()
        compiled(torch.randn(8, 4)).square().mean().backward()
        optimizer.step()
    compiled.eval()
    with torch.no_grad():
        compiled(torch.randn(8, 4))
