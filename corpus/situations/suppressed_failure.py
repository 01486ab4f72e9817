# pytorch/pytorch#144188: the backend fails, and errors are suppressed.
import torch

torch._dynamo.config.suppress_errors = True


def backend(module, inputs):
    raise RuntimeError("fill has no kernel")


@torch.compile(backend=backend)
def fill(x):
    return torch.fill(x, 2)


for _ in range(3):
    fill(torch.ones(3))
