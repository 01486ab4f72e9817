import torch
import torch.distributed as dist
from job import CULPRIT, RANK, RANKS, end, start


def save(model):
    state = torch.cat([p.flatten() for p in model.parameters()])
    parts = [torch.empty_like(state) for _ in range(RANKS)]
    dist.all_gather(parts, state)  # here
    return parts


start()
model = torch.nn.Linear(8, 8)
for step in range(8):
    loss = model(torch.ones(2, 8)).sum()
    loss.backward()
    for p in model.parameters():
        dist.all_reduce(p.grad)  # here
    if step == 3 and RANK == CULPRIT:
        save(model)
end()
