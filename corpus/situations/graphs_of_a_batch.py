# pyg-team/pytorch_geometric#9640: pooling over graphs takes the number of graphs out of a tensor; each batch has
# other sizes.
from dataclasses import dataclass

import torch


@dataclass
class Data:
    x: torch.Tensor
    edge_index: torch.Tensor
    batch: torch.Tensor


def scatter_sum(values, index, size):
    return values.new_zeros(size, values.shape[-1]).index_add(0, index, values)


class Net(torch.nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.embed = torch.nn.Linear(3, width)
        self.message = torch.nn.Linear(width, width)
        self.head = torch.nn.Linear(width, 1)

    def forward(self, x, edge_index, batch):
        source, target = edge_index
        hidden = self.embed(x)
        hidden = hidden + scatter_sum(self.message(hidden)[source], target, hidden.shape[0])
        graphs = int(batch.max()) + 1  # here: graphs
        return self.head(scatter_sum(hidden.relu(), batch, graphs))


def collate(generator):
    sizes = torch.randint(3, 8, (4,), generator=generator)
    nodes = int(sizes.sum())
    edges = torch.randint(nodes, (2, 3 * nodes), generator=generator)
    return Data(torch.randn(nodes, 3), edges, torch.repeat_interleave(torch.arange(4), sizes))


model = Net()
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.Adam(model.parameters())
generator = torch.Generator().manual_seed(1)
for _ in range(5):
    data = collate(generator)
    compiled(data.x, data.edge_index, data.batch).pow(2).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
