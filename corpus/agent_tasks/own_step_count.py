import torch


class Warmup(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = torch.nn.Linear(size, size)
        self.seen = 0

    def forward(self, x):
        self.seen += 1
        return self.linear(x) * min(self.seen / 8, 1.0)


torch.manual_seed(1)
model = Warmup(8)
compiled = torch.compile(model)
for step in range(12):
    y = compiled(torch.randn(4, 8))
print("result", round(float(y.sum()), 4), model.seen)
