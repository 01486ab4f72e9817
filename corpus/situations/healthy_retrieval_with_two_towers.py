# Two towers of one class with other inputs: contrastive training in batch, then an index in chunks, then queries.
import torch
import torch.nn.functional as F
from torch import nn


class Tower(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.first, self.second = nn.Linear(inputs, 16), nn.Linear(16, 8)

    def forward(self, x):
        return F.normalize(self.second(F.relu(self.first(x))), dim=-1)


torch.manual_seed(0)
of_query, of_item = Tower(6), Tower(10)
query, item = torch.compile(of_query, backend="aot_eager"), torch.compile(of_item, backend="aot_eager")
scale = nn.Parameter(torch.tensor(2.0))
optimizer = torch.optim.AdamW([*of_query.parameters(), *of_item.parameters(), scale], lr=1e-3)
for _ in range(4):
    logits = query(torch.randn(8, 6)) @ item(torch.randn(8, 10)).T * scale.exp()
    loss = F.cross_entropy(logits, torch.arange(8))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.inference_mode():
    index = torch.cat([item(chunk) for chunk in torch.randn(50, 10).split(16)])
    for _ in range(3):
        scores, best = (query(torch.randn(1, 6)) @ index.T).topk(5)
