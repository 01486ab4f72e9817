# Training, then evaluation in each epoch.
import torch

model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(0.2), torch.nn.Linear(8, 1))
forward = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    model.train()
    for _ in range(3):
        optimizer.zero_grad()
        forward(torch.randn(4, 8)).square().mean().backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        forward(torch.randn(4, 8))
