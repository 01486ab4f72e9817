# pytorch/pytorch#163093: the learning rate is a tensor, then a scheduler makes it a float.
import torch

weight = torch.nn.Parameter(torch.ones(3))
optimizer = torch.optim.SGD([weight], lr=torch.tensor(0.5))


@torch.compile(backend="eager")
def step():
    optimizer.step()


for rate in (None, None, 0.25, 0.125, 0.0625):
    weight.grad = torch.ones(3)
    if rate is not None:
        optimizer.param_groups[0]["lr"] = rate
    step()
