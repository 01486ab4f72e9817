# facebookresearch/dlrm: EmbeddingBag per feature, with as many values in a batch as its rows happen to have.
import torch
import torch.nn.functional as F
from torch import nn


class Recommender(nn.Module):
    def __init__(self, sizes=(30, 20, 50), width=8):
        super().__init__()
        self.bags = nn.ModuleList(nn.EmbeddingBag(size, width, mode="sum") for size in sizes)
        self.bottom = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, width), nn.ReLU())
        self.top = nn.Sequential(nn.Linear(width + 6, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, dense, indices, offsets):
        x = self.bottom(dense)
        features = [x] + [bag(index, offset) for bag, index, offset in zip(self.bags, indices, offsets)]
        stacked = torch.stack(features, 1)
        product = stacked @ stacked.transpose(1, 2)
        rows, columns = torch.tril_indices(4, 4, -1)
        return self.top(torch.cat([x, product[:, rows, columns]], 1)).squeeze(1)


def batch_of(rows=8):
    indices, offsets = [], []
    for size in (30, 20, 50):
        lengths = torch.randint(1, 4, (rows,))
        indices.append(torch.randint(0, size, (int(lengths.sum()),)))
        offsets.append(torch.cat([torch.zeros(1, dtype=torch.long), lengths.cumsum(0)[:-1]]))
    return torch.randn(rows, 6), indices, offsets, torch.randint(0, 2, (rows,)).float()


torch.manual_seed(0)
model = Recommender()
net = torch.compile(model, backend="aot_eager", dynamic=True)
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
for step in range(8):
    dense, indices, offsets, clicked = batch_of()
    optimizer.zero_grad()
    F.binary_cross_entropy_with_logits(net(dense, indices, offsets), clicked).backward()
    optimizer.step()
