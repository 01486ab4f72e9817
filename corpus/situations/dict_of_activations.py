# pytorch/pytorch#173452: activations of each step are collected in one dict, and a helper walks over all of them.
import torch


@torch.compile(backend="eager")
def norms(seen):
    return sum(activation.norm() for activation in seen.values())  # here: keys


seen = {}
for step in range(6):
    seen[f"step{step}"] = torch.randn(4)
    norms(seen)
