# pytorch/pytorch#141486: batches have several lengths, and the last one is smaller.
import torch

model = torch.compile(torch.nn.GRUCell(4, 4), backend="eager")
embedding = torch.nn.Embedding(16, 4)


@torch.compile(backend="eager")
def pool(ids, mask):
    return (embedding(ids) * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)


for batch, length in ((8, 12), (8, 7), (8, 10), (8, 9), (3, 11)):
    pool(torch.randint(0, 16, (batch, length)), torch.ones(batch, length)).sum().backward()
