# pytorch/rl#2501: a temperature is annealed, and a switch makes samples hard.
import torch


class Gumbel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.temperature = 2.0
        self.hard = False

    def forward(self, x):
        y = (x / self.temperature).softmax(-1)  # here: temperature
        return y.round() if self.hard else y  # here: hard


sampler = Gumbel()
run = torch.compile(sampler, backend="eager")
for epoch in range(5):
    sampler.temperature = 2.0 / (epoch + 1.5)
    sampler.hard = epoch == 4
    run(torch.randn(2, 5))
