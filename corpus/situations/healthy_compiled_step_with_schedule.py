# pytorch/tutorials compiling_optimizer_lr_scheduler: the compiled step of an optimizer whose rate is a tensor.
import torch

model = torch.nn.Sequential(*[torch.nn.Linear(16, 16, bias=False) for _ in range(3)])
x = torch.randn(4, 16)
optimizer = torch.optim.Adam(model.parameters(), lr=torch.tensor(0.01))
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=8)


@torch.compile(backend="eager")
def step():
    optimizer.step()


for _ in range(8):
    optimizer.zero_grad()
    model(x).sum().backward()
    step()
    scheduler.step()
