# Monte Carlo dropout: evaluation keeps dropout on, many passes over one input, then one pass without dropout.
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 1))
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(5):
    x = torch.randn(16, 5)
    optimizer.zero_grad()
    nn.functional.mse_loss(compiled(x), x.sum(1, keepdim=True)).backward()
    optimizer.step()
x = torch.randn(16, 5)
with torch.no_grad():
    samples = torch.stack([compiled(x) for _ in range(8)])
    spread = samples.std(0)
    model.eval()
    mean = compiled(x)
