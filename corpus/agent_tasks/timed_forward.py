import time

import torch


class Timed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(16, 16)
        self.seconds = 0.0

    def forward(self, x):
        begin = time.perf_counter()
        y = torch.relu(self.layer(x))
        self.seconds += time.perf_counter() - begin
        return y + x


torch.manual_seed(12)
model = Timed()
compiled = torch.compile(model)
total = 0.0
for step in range(8):
    total += float(compiled(torch.randn(4, 16)).sum())
assert model.seconds > 0
print("result", round(total, 4))
