# xdit-project/xDiT#781: three keys are in a dict only if a sequence needs padding.
import torch


@torch.compile(backend="eager")
def attention(x, options):
    if "lengths" in options:  # here: keys
        x = x * options["lengths"]
    return x.softmax(-1)


for step in range(6):
    options = {"scale": torch.ones(1)}
    if step % 2:
        options.update(lengths=torch.ones(1), longest=torch.ones(1))
    attention(torch.randn(3, 4), options)
