# huggingface/diffusers#11776: the factor of an interpolation is another number in each call.
import torch


@torch.compile(backend="eager")
def upscale(image, factor):
    return torch.nn.functional.interpolate(image, scale_factor=factor)  # here: factor


for factor in (1.5, 2.0, 2.5, 3.0):
    upscale(torch.rand(1, 1, 4, 4), factor)
