# pytorch/tutorials torch_compile_tutorial with the default backend: training, validation, and predictions for one row.
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.SiLU(), nn.Linear(16, 1))
compiled = torch.compile(model)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x, y = torch.randn(48, 6), torch.randn(48, 1)
for epoch in range(3):
    model.train()
    for rows, wanted in zip(x.split(16), y.split(16)):
        optimizer.zero_grad()
        nn.functional.huber_loss(compiled(rows), wanted).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        nn.functional.mse_loss(compiled(x), y)
with torch.no_grad():
    compiled(x[:1])
