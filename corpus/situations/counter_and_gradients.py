# meta-pytorch/torchrec#4338 and pytorch/pytorch#131975: a metric counts its updates,
# and is read with and without gradients.
import torch


class Metric(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.updates = 0

    def forward(self, error):
        self.updates += 1  # here: counter
        return error.square().mean() / self.updates


metric = torch.compile(Metric(), backend="eager")
for _ in range(4):
    metric(torch.randn(6, requires_grad=True))
with torch.no_grad():
    metric(torch.randn(6))
