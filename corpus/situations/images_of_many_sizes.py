# huggingface/diffusers#11776: a list of images whose sizes differ from call to call.
import torch


@torch.compile(backend="eager")
def means(images):
    return torch.stack([image.mean((1, 2)) for image in images])  # here: images


for size in (8, 12, 16, 20):
    means([torch.rand(3, size, size), torch.rand(3, size + 2, size + 4)])
