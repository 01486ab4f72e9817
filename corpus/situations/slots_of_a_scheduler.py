# huggingface/diffusers#12218, Comfy-Org/ComfyUI#9480: a sampler keeps its index and its last outputs, and the step is
# compiled.
import torch


class Sampler:
    __slots__ = ("sigmas", "index", "outputs")

    def __init__(self, steps):
        self.sigmas = torch.linspace(1, 0, steps + 1)
        self.index = 0
        self.outputs = []

    def step(self, output, sample):
        self.outputs.append(output)  # here: append
        if len(self.outputs) > 2:
            self.outputs.pop(0)
        if len(self.outputs) == 2:  # here: order
            output = 1.5 * self.outputs[-1] - 0.5 * self.outputs[-2]
        sigma, following = self.sigmas[self.index], self.sigmas[self.index + 1]  # here: index
        self.index += 1
        return sample + (following - sigma) * output


model = torch.nn.Linear(4, 4)
sampler = Sampler(7)


@torch.compile(backend="eager")
def denoise(sample, sampler):
    return sampler.step(model(sample), sample)


with torch.no_grad():
    sample = torch.randn(2, 4)
    for _ in range(7):
        sample = denoise(sample, sampler)
