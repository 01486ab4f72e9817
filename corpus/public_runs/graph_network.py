"""pyg-team/pytorch_geometric: a graph network on mini-batches whose numbers of nodes and edges differ."""

import torch
from torch_geometric.nn import GCNConv, global_mean_pool


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = GCNConv(8, 16)
        self.second = GCNConv(16, 16)
        self.head = torch.nn.Linear(16, 3)

    def forward(self, x, edges, batch):
        x = self.first(x, edges).relu()
        x = self.second(x, edges).relu()
        return self.head(global_mean_pool(x, batch))


torch.manual_seed(0)
net = torch.compile(Net(), backend="eager")
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for nodes, edges in ((20, 40), (23, 51), (31, 60), (18, 33)):
    x, pairs = torch.randn(nodes, 8), torch.randint(0, nodes, (2, edges))
    batch = torch.arange(nodes) * 4 // nodes
    loss = torch.nn.functional.cross_entropy(net(x, pairs, batch), torch.randint(0, 3, (4,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
