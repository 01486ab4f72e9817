# leggedrobotics/rsl_rl#199: running statistics are Python floats of a module, updated after each call.
import torch


class Normalizer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mean, self.std = 0.0, 1.0

    def forward(self, x):
        return (x - self.mean) / self.std  # here: mean


normalizer = Normalizer()
compiled = torch.compile(normalizer, backend="eager")
for _ in range(12):
    batch = torch.randn(8, 4)
    compiled(batch)
    normalizer.mean = 0.9 * normalizer.mean + 0.1 * float(batch.mean())
    normalizer.std = 0.9 * normalizer.std + 0.1 * float(batch.std())
