# pytorch/pytorch#130687: a model is trained compiled, exported with a dynamic batch, and both are compared.
import copy

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Conv1d(2, 6, 3, padding=1), nn.BatchNorm1d(6), nn.GELU(), nn.Flatten(), nn.Linear(48, 3))
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.NAdam(model.parameters(), lr=1e-3)
for _ in range(4):
    optimizer.zero_grad()
    compiled(torch.randn(8, 2, 8)).logsumexp(-1).mean().backward()
    optimizer.step()
frozen = copy.deepcopy(model).eval()
batch = torch.export.Dim("batch", min=2, max=64)
program = torch.export.export(frozen, (torch.randn(4, 2, 8),), dynamic_shapes=({0: batch},))
serve = program.module()
model.eval()
with torch.no_grad():
    for size in (8, 8):
        x = torch.randn(size, 2, 8)
        torch.testing.assert_close(serve(x), compiled(x), rtol=1e-4, atol=1e-5)
