import torch

NAMES = {0: 0.5, 1: 1.0, 2: 2.0}


@torch.compile
def weighted(logits, labels):
    weights = torch.stack([torch.tensor(NAMES[int(label)]) for label in labels])
    chosen = logits.gather(1, labels[:, None]).squeeze(1)
    return (weights * chosen).mean()


torch.manual_seed(20)
total = 0.0
for step in range(6):
    total += float(weighted(torch.randn(5, 3), torch.randint(0, 3, (5,))))
print("result", round(total, 4))
