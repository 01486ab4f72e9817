# huggingface/diffusers#11409: other guidance, other resolution and another sampler, each in a call of its own.
import torch


@torch.compile(backend="eager")
def denoise(image, guidance, sampler):
    image = image * guidance  # here: guidance
    return image.tanh() if sampler == "fast" else image.sigmoid()  # here: sampler


denoise(torch.rand(8, 8), 3.5, "fast")
denoise(torch.rand(8, 8), 5.0, "fast")
denoise(torch.rand(12, 12), 5.0, "fast")
denoise(torch.rand(12, 12), 5.0, "slow")
denoise(torch.rand(10, 10), 7.5, "slow")
