# pytorch/pytorch#163093: the rate is a tensor at first, and a scheduler replaces it by a number.
import torch

weight = torch.nn.Parameter(torch.ones(4))
optimizer = torch.optim.Adam([weight], lr=torch.tensor(0.1))


@torch.compile(backend="eager")
def step():
    optimizer.step()


for iteration in range(4):
    weight.grad = torch.ones(4)
    step()
    if iteration == 1:
        for group in optimizer.param_groups:
            group["lr"] = float(group["lr"]) * 0.5
