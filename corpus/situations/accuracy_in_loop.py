# tenstorrent/tt-torch#852: a compiled training epoch loops over batches and adds item() of each loss to a float.
import torch

model = torch.nn.Linear(4, 2)


@torch.compile(backend="eager")
def epoch(batches, labels):
    total = 0.0
    for x, y in zip(batches, labels):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        total += loss.item()  # here: item
    return total


for count in (2, 3):
    epoch([torch.randn(4, 4) for _ in range(count)], [torch.randint(0, 2, (4,)) for _ in range(count)])
