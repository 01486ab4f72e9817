# Mixed precision inside of forward; float32 outside; loss scaling is not needed for bfloat16; gradients accumulate.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 24), nn.GELU(), nn.LayerNorm(24))
        self.head = nn.Linear(24, 4)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            x = self.body(x)
        return self.head(x.float())


torch.manual_seed(0)
model = Net()
compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
data, labels = torch.randn(40, 12), torch.randint(0, 4, (40,))
for epoch in range(2):
    order = torch.randperm(40)
    for number, index in enumerate(order.split(12)):
        loss = nn.functional.cross_entropy(compiled(data[index]), labels[index]) / 2
        loss.backward()
        if number % 2:
            optimizer.step()
            optimizer.zero_grad()
    with torch.no_grad():
        accuracy = (compiled(data).argmax(1) == labels).float().mean()
