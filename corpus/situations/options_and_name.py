# xdit-project/xDiT#781: keyword arguments differ from call to call, and a name changes once.
import torch


@torch.compile(backend="eager")
def transform(x, name, **options):
    for value in options.values():
        x = x * value
    return x + len(name)  # here: name


transform(torch.ones(2), "a", scale=2)
transform(torch.ones(2), "a", scale=2, shift=3)
transform(torch.ones(2), "bb", scale=2, shift=3)
