# pyg-team/pytorch_geometric#8220: graphs with other numbers of nodes and edges, compiled with dynamic=True.
import torch
from torch import nn


class Convolution(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.own, self.others = nn.Linear(inner, outer), nn.Linear(inner, outer, bias=False)

    def forward(self, x, source, target):
        messages = self.others(x)[source]
        total = torch.zeros(x.shape[0], messages.shape[1]).index_add_(0, target, messages)
        degree = torch.zeros(x.shape[0]).index_add_(0, target, torch.ones_like(target, dtype=torch.float))
        return self.own(x) + total / degree.clamp(min=1)[:, None]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Convolution(5, 8), Convolution(8, 8)
        self.head = nn.Linear(8, 1)

    def forward(self, x, source, target, graph, graphs):
        x = self.first(x, source, target).relu()
        x = self.second(x, source, target).relu()
        pooled = torch.zeros(graphs, x.shape[1]).scatter_reduce_(
            0, graph[:, None].expand_as(x), x, "mean", include_self=False
        )
        return self.head(pooled).squeeze(-1)


def batch_of(graphs):
    sizes = torch.randint(4, 9, (graphs,))
    nodes = int(sizes.sum())
    edges = int(torch.randint(2 * nodes, 3 * nodes, ()))
    source, target = torch.randint(0, nodes, (2, edges))
    return torch.randn(nodes, 5), source, target, torch.arange(graphs).repeat_interleave(sizes), graphs


torch.manual_seed(0)
model = Net()
net = torch.compile(model, backend="aot_eager", dynamic=True)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(8):
    optimizer.zero_grad()
    net(*batch_of(4)).square().mean().backward()
    optimizer.step()
