import torch

weights = torch.nn.Parameter(torch.ones(12))
optimizer = torch.optim.Adam([weights], lr=0.1)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)


@torch.compile
def update():
    optimizer.step()


torch.manual_seed(18)
for step in range(12):
    optimizer.zero_grad()
    ((weights - torch.randn(12)) ** 2).sum().backward()
    update()
    scheduler.step()
print("result", round(float(weights.sum()), 3))
