# albumentations-team/albumentations#2345, pytorch/pytorch#111204: augmentations draw from a generator of NumPy.
import numpy as np
import torch


class RandomErase:
    def __init__(self, size, rng):
        self.size = size
        self.rng = rng

    def __call__(self, images):
        top = self.rng.integers(0, images.shape[-2] - self.size)  # here: draw
        mask = torch.ones_like(images)
        mask[..., top : top + self.size, :] = 0
        return images * mask


def normalize(images):
    mean = images.mean((-1, -2), keepdim=True)
    return (images - mean) / (images.std() + 1e-5)


erase = RandomErase(2, np.random.default_rng(0))


@torch.compile(backend="eager")
def augment(images):
    images = normalize(images)
    images = erase(images)
    return images.clamp(-3, 3)


for _ in range(4):
    augment(torch.rand(4, 3, 8, 8))
