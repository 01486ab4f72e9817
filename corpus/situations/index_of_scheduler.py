# huggingface/diffusers#11360: a scheduler counts its steps and indexes its sigmas with the number.
import torch


class Scheduler:
    def __init__(self, steps):
        self.sigmas, self.index = torch.linspace(1, 0, steps + 1), 0

    @torch.compile(backend="eager")
    def step(self, noise, sample):
        sigma, following = self.sigmas[self.index], self.sigmas[self.index + 1]  # here: index
        self.index += 1
        return sample + (following - sigma) * noise


scheduler = Scheduler(10)
sample = torch.randn(2, 4)
for _ in range(10):
    sample = scheduler.step(torch.randn(2, 4), sample)
