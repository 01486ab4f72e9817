# pyg-team/pytorch_geometric#7002: messages along padded edges, training and evaluation, a smaller last batch.
import torch


class Passing(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.message = torch.nn.Linear(16, 8)
        self.update = torch.nn.Linear(16, 8)

    def forward(self, nodes, source, target, valid):
        sent = self.message(torch.cat((nodes[source], nodes[target]), -1)) * valid[:, None]
        received = torch.zeros_like(nodes).index_add(0, target, sent)
        return torch.relu(self.update(torch.cat((nodes, received), -1)))


def batch(graphs):
    nodes, edges = 10 * graphs, 24 * graphs
    ends = torch.randint(nodes, (2, edges))
    return torch.randn(nodes, 8), ends[0], ends[1], (torch.rand(edges) < 0.8).float()


torch.manual_seed(0)
model = Passing()
compiled = torch.compile(model, backend="eager")
optimizer = torch.optim.Adam(model.parameters())
for _ in range(2):
    model.train()
    for graphs in (4, 4, 4, 3):
        compiled(*batch(graphs)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    model.eval()
    with torch.no_grad():
        for _ in range(2):
            compiled(*batch(4))
