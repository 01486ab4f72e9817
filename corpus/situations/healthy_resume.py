# Training, a checkpoint in memory, and training again from it.
import io

import torch

model = torch.nn.Linear(8, 2)
forward = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.Adam(model.parameters())
for part in range(2):
    for _ in range(3):
        optimizer.zero_grad()
        forward(torch.randn(4, 8)).square().mean().backward()
        optimizer.step()
    kept = io.BytesIO()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, kept)
    kept.seek(0)
    state = torch.load(kept)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
