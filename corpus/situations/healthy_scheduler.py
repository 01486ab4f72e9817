# Training with a scheduler; only the model is compiled. pytorch/pytorch#107076.
import torch

model = torch.nn.Linear(8, 2)
forward = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=8)
for _ in range(5):
    optimizer.zero_grad()
    forward(torch.randn(4, 8)).square().mean().backward()
    optimizer.step()
    schedule.step()
