# pytorch/pytorch#112260: training runs under autocast and validation does not.
import torch

model = torch.nn.Linear(6, 2)
run = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    for _ in range(2):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = run(torch.randn(4, 6)).square().mean()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        run(torch.randn(4, 6))
