# facebookresearch/moco: query and key encoder of one class, a queue in a buffer, and a linear probe.
import copy

import torch
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.project = nn.Linear(8, 6)

    def features(self, x):
        return F.relu(self.norm(self.conv(x))).mean((2, 3))

    def forward(self, x):
        return F.normalize(self.project(self.features(x)), dim=1)


torch.manual_seed(0)
query, key = Encoder(), None
key = copy.deepcopy(query).requires_grad_(False)
encode_query, encode_key = (torch.compile(module, backend="aot_eager") for module in (query, key))
queue, pointer = F.normalize(torch.randn(6, 32), dim=0), 0


@torch.compile(backend="aot_eager")
def contrastive_loss(q, k, negatives, temperature: float = 0.2):
    positive = (q * k).sum(1, keepdim=True)
    logits = torch.cat([positive, q @ negatives], 1) / temperature
    return F.cross_entropy(logits, torch.zeros(q.shape[0], dtype=torch.long))


optimizer = torch.optim.SGD(query.parameters(), lr=0.03, momentum=0.9)
for step in range(6):
    images = torch.randn(8, 3, 8, 8)
    q = encode_query(images + 0.1 * torch.randn_like(images))
    with torch.no_grad():
        for slow, fast in zip(key.parameters(), query.parameters()):
            slow.mul_(0.99).add_(fast, alpha=0.01)
        k = encode_key(images + 0.1 * torch.randn_like(images))
    loss = contrastive_loss(q, k, queue.clone())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    queue[:, pointer : pointer + 8] = k.T
    pointer = (pointer + 8) % 32
query.requires_grad_(False).eval()
features = torch.compile(query.features, backend="aot_eager")
probe = nn.Linear(8, 3)
optimizer = torch.optim.LBFGS(probe.parameters(), max_iter=3)
images, labels = torch.randn(16, 3, 8, 8), torch.randint(0, 3, (16,))
with torch.no_grad():
    known = features(images)


def closure():
    optimizer.zero_grad()
    loss = F.cross_entropy(probe(known), labels)
    loss.backward()
    return loss


optimizer.step(closure)
