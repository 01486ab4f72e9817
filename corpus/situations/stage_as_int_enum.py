# facebookresearch/detectron2#5312: an IntEnum says which stage of the curriculum a step belongs to.
from enum import IntEnum

import torch
import torch.nn.functional as F


class Stage(IntEnum):
    WARMUP = 0
    PRETRAIN = 1
    FINETUNE = 2
    POLISH = 3


model = torch.nn.Sequential(torch.nn.Linear(5, 10), torch.nn.ReLU(), torch.nn.Linear(10, 3))


@torch.compile(backend="aot_eager")
def training_loss(x, y, stage):
    logits = model(x)
    loss = F.cross_entropy(logits, y)
    if stage >= Stage.FINETUNE:  # here: stage
        loss = loss + 0.1 * logits.pow(2).mean()
    return loss


optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for stage in Stage:
    for _ in range(3):
        training_loss(torch.randn(8, 5), torch.randint(3, (8,)), stage).backward()
        optimizer.step()
        optimizer.zero_grad()
