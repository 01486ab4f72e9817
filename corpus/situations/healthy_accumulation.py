# Gradient accumulation outside the compiled model.
import torch

model = torch.nn.Linear(8, 1)
forward = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for index in range(6):
    (forward(torch.randn(4, 8)).square().mean() / 3).backward()
    if (index + 1) % 3 == 0:
        optimizer.step()
        optimizer.zero_grad()
