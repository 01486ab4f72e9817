# pytorch/pytorch#154867 and NVIDIA/TensorRT-LLM#6142: a counter, growing batches, and a last call without gradients.
import torch


class Meter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = 3

    def forward(self, x):
        self.steps += 1  # here: steps
        return x.mean() * self.steps


meter = Meter()
run = torch.compile(meter, backend="eager")
for batch in (4, 4, 6, 8):
    run(torch.randn(batch, 2, requires_grad=True))
with torch.no_grad():
    run(torch.randn(8, 2, requires_grad=True))
