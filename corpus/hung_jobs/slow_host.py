import torch
import torch.distributed as dist
from job import CULPRIT, RANK, end, start

start()


def tokenize(step):
    text = "a" * (10 if RANK != CULPRIT or step < 5 else 10**9)
    total = 0
    for letter in text:
        total += ord(letter)  # here
    return torch.tensor([float(total)])


for step in range(30):
    tokens = tokenize(step)
    dist.all_reduce(tokens)
end()
