# Numbers of tensors stay in the graph, by a setting. PrimeIntellect-ai/prime-rl#1778.
import torch

torch._dynamo.config.capture_scalar_outputs = True


@torch.compile(backend="eager")
def norm(x):
    return x / x.abs().max().item()


for _ in range(3):
    norm(torch.rand(4) + 1)
