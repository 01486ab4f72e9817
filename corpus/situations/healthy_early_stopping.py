# Training with validation each epoch, the best state kept, and a stop when the loss no longer falls.
import copy

import torch

model = torch.nn.Sequential(torch.nn.Linear(5, 10), torch.nn.GELU(), torch.nn.Linear(10, 1))
run = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
best, kept, waited = float("inf"), None, 0
for epoch in range(4):
    model.train()
    for _ in range(3):
        optimizer.zero_grad(set_to_none=True)
        run(torch.randn(8, 5)).square().mean().backward()
        optimizer.step()
    model.eval()
    with torch.inference_mode():
        value = run(torch.randn(12, 5)).square().mean().item()
    schedule.step(value)
    waited = 0 if value < best else waited + 1
    if value < best:
        best, kept = value, copy.deepcopy(model.state_dict())
    if waited == 3:
        break
model.load_state_dict(kept)
