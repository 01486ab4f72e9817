# huggingface/diffusers#14176: the sampler passes its own object with a list of sigmas and a counter of steps.
import torch


class Sampler:
    def __init__(self, steps):
        self.sigmas = [1.0 - number / steps for number in range(steps + 1)]
        self.count = 0


@torch.compile(backend="eager")
def denoise(x, sampler):
    sigma = sampler.sigmas[sampler.count]  # here: count
    return x - sigma * x.tanh()


sampler = Sampler(12)
x = torch.randn(2, 3)
for _ in range(12):
    x = denoise(x, sampler)
    sampler.count += 1
