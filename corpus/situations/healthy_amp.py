# Training under autocast on the CPU.
import torch

model = torch.nn.Linear(8, 4)
forward = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(3):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = forward(torch.randn(4, 8)).square().mean()
    loss.backward()
    optimizer.step()
