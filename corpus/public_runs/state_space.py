"""alxndrTL/mamba.py: a selective state space model, trained with the parallel scan, then stepped token by token."""

import torch
from mambapy.mamba import Mamba, MambaConfig

torch.manual_seed(0)
model = Mamba(MambaConfig(d_model=16, n_layers=2, d_state=4))
compiled = torch.compile(model, backend="eager")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for length in (8, 8, 16):
    loss = compiled(torch.randn(2, length, 16)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
model.eval()
step = torch.compile(model.step, backend="eager")
with torch.no_grad():
    caches = [(None, torch.zeros(2, 32, 3)) for _ in range(2)]
    for _ in range(4):
        _, caches = step(torch.randn(2, 16), caches)
