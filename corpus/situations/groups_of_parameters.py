# cloneofsimo/zeroshampoo#1: an update function gets lists of tensors, one list per group, of several lengths.
import torch


@torch.compile(backend="eager")
def update(parameters, gradients, momenta, rate):
    for parameter, gradient, momentum in zip(parameters, gradients, momenta):  # here: loop
        momentum.mul_(0.9).add_(gradient)
        parameter.sub_(momentum * rate)


sizes = [[(4, 4), (4,)], [(4, 4)], [(4, 2), (2,), (2,)]]
groups = [[torch.randn(size) for size in group] for group in sizes]
state = [[torch.zeros_like(each) for each in group] for group in groups]
rate = torch.tensor(0.1)
for _ in range(2):
    for group, momenta in zip(groups, state):
        update(group, [torch.randn_like(each) for each in group], momenta, rate)
