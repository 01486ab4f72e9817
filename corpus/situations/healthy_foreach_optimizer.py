# An optimizer of one's own: all parameters in one compiled call, the learning rate a tensor. pytorch/pytorch#163093.
import torch

model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
parameters = list(model.parameters())
moments = [torch.zeros_like(parameter) for parameter in parameters]
rate = torch.tensor(0.1)


@torch.compile(backend="eager")
def step(parameters, gradients, moments, rate):
    torch._foreach_lerp_(moments, gradients, 0.1)
    torch._foreach_sub_(parameters, torch._foreach_mul(moments, rate))


for _ in range(4):
    model.zero_grad()
    model(torch.randn(5, 4)).square().mean().backward()
    with torch.no_grad():
        step(parameters, [parameter.grad for parameter in parameters], moments, rate)
    rate.mul_(0.9)
