# Training and evaluation alternate. pytorch/pytorch#110803.
import torch

model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(), torch.nn.Linear(8, 1))
run = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    model.train()
    optimizer.zero_grad()
    run(torch.randn(8, 4)).square().mean().backward()
    optimizer.step()
    model.eval()
    run(torch.randn(8, 4))
