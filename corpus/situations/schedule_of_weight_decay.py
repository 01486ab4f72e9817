# facebookresearch/dinov2#375: weight decay follows a cosine; the optimizer's step is compiled.
import math

import torch


def cosine(start, end, step, steps):
    return end + 0.5 * (start - end) * (1 + math.cos(math.pi * step / steps))


model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 2))
optimizer = torch.optim.AdamW(
    [{"params": model[0].parameters()}, {"params": model[2].parameters()}], lr=torch.tensor(1e-3), weight_decay=0.04
)


@torch.compile(backend="eager")
def update():
    optimizer.step()  # here: step


for step in range(6):
    for group in optimizer.param_groups:
        group["weight_decay"] = cosine(0.04, 0.4, step, 6)
    model(torch.randn(3, 4)).pow(2).mean().backward()
    update()
    optimizer.zero_grad()
