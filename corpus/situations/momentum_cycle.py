# pytorch/pytorch#133898: the learning rate is a tensor, but the schedule also changes beta1, a float.
import torch

weight = torch.nn.Parameter(torch.randn(4, 4))
optimizer = torch.optim.AdamW([weight], lr=torch.tensor(0.01))


@torch.compile(backend="eager")
def step():
    optimizer.step()


for number in range(6):
    weight.grad = torch.randn(4, 4)
    optimizer.param_groups[0]["betas"] = (0.95 - number / 100, 0.999)
    step()
