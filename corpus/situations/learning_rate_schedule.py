# pytorch/pytorch#120934: the optimizer's step is compiled, and a scheduler changes the learning rate, a float.
import torch

weight = torch.nn.Parameter(torch.randn(4, 4))
optimizer = torch.optim.SGD([weight], lr=0.5)
schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)


@torch.compile(backend="eager")
def step():
    optimizer.step()


for _ in range(6):
    weight.grad = torch.randn(4, 4)
    step()
    schedule.step()
