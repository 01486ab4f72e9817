# pytorch/pytorch#125836: equal blocks are compiled one by one, and each has the same hook under another id.
import torch


def widen(module, inputs):
    return (inputs[0] * 2,)


blocks = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(4))
for block in blocks:
    block.register_forward_pre_hook(widen)
    block.compile(backend="eager")
with torch.no_grad():
    for _ in range(2):
        x = torch.ones(2, 4)
        for block in blocks:
            x = block(x)
